// Owns one data directory and what happens to it: victims one after another, each killed in some
// way, then an inspection and the verdict.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FaultPlan } from "@agenttx/testkit";
import { violationsOf, wrongAnswers } from "./checks.js";
import type { Facts, Line } from "./lines.js";
import { type Acknowledged, Model } from "./model.js";
import type { Orders, Victim, VictimEnd, VictimPool, WayOut } from "./victim.js";
import { World } from "./world.js";

/**
 * How a victim ends. Deaths at work are counted in lines that it says, so that a slow machine kills
 * no earlier than a fast one; `ms` is added to it.
 */
export type Death =
  | { readonly kind: "young"; readonly ms: number }
  | { readonly kind: "work"; readonly lines: number; readonly ms: number }
  | { readonly kind: "term"; readonly lines: number; readonly killAfterMs: number | null }
  | { readonly kind: "write"; readonly plan: FaultPlan; readonly atMostMs: number }
  /** At a named point that is not known; otherwise after so many lines, or when it rests. */
  | { readonly kind: "point"; readonly known: readonly string[]; readonly lines: number }
  /** By itself: process.exit, an error that nobody handles, the end of its thread. */
  | { readonly kind: "leave"; readonly how: WayOut; readonly lines: number; readonly ms: number }
  /** Stopped for so long, longer than its tools may take, and then let go on; killed at work. */
  | { readonly kind: "freeze"; readonly lines: number; readonly ms: number }
  /** At a named point that is not known yet; without one it ends with the tour. */
  | {
      readonly kind: "hunt";
      readonly known: readonly string[];
      readonly half: 0 | 1;
      readonly atMostMs: number;
    };

export interface Life {
  readonly mode: "work" | "tour" | "rest";
  readonly death: Death;
  readonly seed: number;
  readonly lanes: number;
  readonly resume: boolean;
}

export interface LifeEnd extends VictimEnd {
  readonly lines: readonly Line[];
  /** It died while it recovered what another left. */
  readonly inRecovery: boolean;
  /** It died of its fault, not of the clock behind it. */
  readonly byFault: boolean;
}

/** Acknowledged requests that an inspection sends once more. */
const QUESTIONS_MAX = 60;

export class CrashCase {
  readonly model = new Model();
  readonly #directory: string;
  readonly #pool: VictimPool;
  readonly #world: World;
  readonly #sync: boolean;
  #lives = 0;

  private constructor(directory: string, pool: VictimPool, world: World, sync: boolean) {
    this.#directory = directory;
    this.#pool = pool;
    this.#world = world;
    this.#sync = sync;
  }

  static async open(directory: string, pool: VictimPool, sync: boolean): Promise<CrashCase> {
    const world = await World.open(join(directory, "world.sock"), join(directory, "world.log"));
    return new CrashCase(directory, pool, world, sync);
  }

  get deeds(): number {
    return this.#world.deeds.size;
  }

  get undone(): number {
    return [...this.#world.deeds.values()].filter(({ undone }) => undone > 0).length;
  }

  async live(life: Life): Promise<LifeEnd> {
    const { death } = life;
    const victim = this.#pool.take();
    this.#lives += 1;
    const orders = {
      ...this.#ordersOf(life.mode),
      seed: life.seed,
      prefix: `v${this.#lives}`,
      lanes: life.lanes,
      resume: life.resume,
      hunt: huntOf(death),
      leave: death.kind === "leave" ? death : null,
      plan: death.kind === "write" ? death.plan : null,
    };
    const kill = new Kill(victim, death, () => this.#probe());
    victim.go(orders, (line) => {
      this.model.hear(line);
      kill.hear(line);
    });
    const end = await victim.ended;
    kill.cancel();
    await kill.probed;
    await this.#world.quiet();
    if (end.hung) this.model.violations.push(`victim ${this.#lives} hung; stderr: ${end.stderr}`);
    if (end.signal !== "SIGKILL" && !isAsPlanned(end, death)) {
      this.model.violations.push(`victim ended with ${end.code ?? end.signal}: ${end.stderr}`);
    }
    const { lines } = victim;
    const worked = lines.some(({ k }) => k === "working");
    const byFault = end.signal === "SIGKILL" && !kill.killed;
    return { ...end, lines, inRecovery: !worked, byFault };
  }

  /** Restarts twice without any fault and gives the verdict: every violation so far. */
  async inspect(): Promise<readonly string[]> {
    const asked = sample(this.model.answers, QUESTIONS_MAX);
    const questions = [
      ...sample(this.model.begins, 10).map(({ rid, tx }) => ({ rid, tx, tool: null, args: null })),
      ...asked.map(({ rid, tx, tool, args }) => ({ rid, tx, tool, args })),
    ];
    const victim = this.#pool.take();
    const facts: Facts[] = [];
    victim.go({ ...this.#ordersOf("inspect"), questions }, (line) => {
      if (line.k === "facts") facts.push(line.facts);
      else this.model.hear(line);
    });
    const end = await victim.ended;
    await this.#world.quiet();
    const [first, second] = facts;
    if (end.code !== 0 || first === undefined || second === undefined) {
      return [...this.model.violations, `the inspection ended with ${end.code}: ${end.stderr}`];
    }
    const world = this.#world;
    const sink = await this.#readSink();
    return [
      ...this.model.violations,
      ...violationsOf({ model: this.model, world, sink, facts: first }),
      ...differences(first, second),
      ...wrongAnswers(this.model, second, asked.filter(isOver(second))),
    ];
  }

  /** A frozen process still has its store: nobody takes it over. */
  async #probe(): Promise<void> {
    const victim = this.#pool.take();
    const codes: (string | null)[] = [];
    victim.go(this.#ordersOf("probe"), (line) => {
      if (line.k === "probed") codes.push(line.code);
    });
    await victim.ended;
    if (codes[0] !== "STORE_LOCKED") {
      this.model.violations.push(`the store of a frozen process answers ${codes[0]}`);
    }
  }

  async close(): Promise<void> {
    await this.#world.close();
  }

  #ordersOf(mode: Orders["mode"]): Orders {
    return {
      mode,
      store: join(this.#directory, "store"),
      sink: join(this.#directory, "mail.jsonl"),
      socket: this.#world.socketPath,
      sync: this.#sync,
      seed: 0,
      prefix: "i",
      lanes: 1,
      resume: false,
      hunt: null,
      leave: null,
      plan: null,
      questions: [],
    };
  }

  async #readSink() {
    const text = await readFile(join(this.#directory, "mail.jsonl"), "utf8").catch(() => "");
    return text
      .split("\n")
      .slice(0, -1)
      .map((line) => {
        const { transaction, payload } = JSON.parse(line) as {
          transaction: string;
          payload: { item: string };
        };
        return { transaction, item: payload.item };
      });
  }
}

function huntOf(death: Death): Orders["hunt"] {
  if (death.kind === "point") return { known: death.known, half: null };
  return death.kind === "hunt" ? { known: death.known, half: death.half } : null;
}

const LEFT_WITH: Readonly<Record<WayOut, number>> = { exit: 7, throw: 1, reject: 1, terminate: 0 };

function isAsPlanned({ code, signal, stderr }: VictimEnd, death: Death): boolean {
  if (signal !== null) return false;
  if (death.kind === "term") return code === 0;
  if (death.kind !== "leave" || code !== LEFT_WITH[death.how]) return false;
  return code !== 1 || stderr.includes("a planned death");
}

/** A victim that stops talking is killed all the same: it has nothing to do. */
const SILENT_MS = 3_000;
/** Longer than any way to a named point. */
const POINT_MS_MAX = 20_000;

/** Kills a victim when it is time. */
class Kill {
  killed = false;
  /** Settles when the attempt to take the store of a frozen victim is over. */
  probed: Promise<void> = Promise.resolve();
  readonly #probe: () => Promise<void>;
  readonly #victim: Victim;
  readonly #death: Death;
  readonly #timers: NodeJS.Timeout[] = [];
  #spoken = 0;
  #due = false;

  constructor(victim: Victim, death: Death, probe: () => Promise<void>) {
    this.#victim = victim;
    this.#probe = probe;
    this.#death = death;
    if (death.kind === "young") this.#killIn(death.ms);
    if (death.kind === "write" || death.kind === "hunt") this.#killIn(death.atMostMs);
    if (death.kind === "point") this.#killIn(POINT_MS_MAX);
  }

  hear({ k }: Line): void {
    const death = this.#death;
    if (k === "rested" && (death.kind === "hunt" || death.kind === "point")) this.#killIn(0);
    if (!("lines" in death)) return;
    if (k === "working") {
      this.#spoken = 0;
      this.#in(SILENT_MS, () => this.#end(death));
    }
    this.#spoken += 1;
    if (this.#spoken === death.lines) this.#end(death);
  }

  cancel(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #end(death: Extract<Death, { readonly lines: number }>): void {
    if (this.#due) return;
    this.#due = true;
    if (death.kind === "point") this.#killIn(0);
    else if (death.kind === "work") this.#killIn(death.ms);
    else if (death.kind === "freeze") this.#freeze(death.ms);
    // It leaves by itself, unless it has nothing more to say.
    else if (death.kind === "leave") this.#killIn(SILENT_MS);
    else {
      this.#victim.kill("SIGTERM");
      if (death.killAfterMs !== null) this.#killIn(death.killAfterMs);
    }
  }

  #freeze(ms: number): void {
    this.#victim.kill("SIGSTOP");
    this.probed = this.#probe();
    this.#in(ms, () => {
      void this.probed.then(() => {
        this.#victim.kill("SIGCONT");
        this.#killIn(ms);
      });
    });
  }

  #killIn(ms: number): void {
    this.#in(ms, () => {
      this.killed = true;
      this.#victim.kill();
    });
  }

  #in(ms: number, act: () => void): void {
    this.#timers.push(setTimeout(act, ms));
  }
}

/** Every n-th, so that old and new ones are among them. */
function sample<Item>(items: readonly Item[], count: number): readonly Item[] {
  const each = Math.max(1, Math.ceil(items.length / count));
  return items.filter((_, index) => index % each === 0);
}

/** Where a transaction is still open, what stands is not known to the model. */
function isOver(facts: Facts): (one: Acknowledged) => boolean {
  const open = new Set(facts.open);
  return ({ tx }) => !open.has(tx);
}

/** A second restart changes nothing; resuming only to ask is no restart. */
function differences(first: Facts, second: Facts): string[] {
  const changed: string[] = [];
  for (const part of [
    "transactions",
    "state",
    "records",
    "effects",
    "unresolved",
    "open",
  ] as const) {
    const [one, other] = [JSON.stringify(first[part]), JSON.stringify(second[part])];
    if (one !== other) changed.push(`a second restart changed ${part}: ${one} -> ${other}`);
  }
  if (first.storeChain.entries !== second.storeChain.entries) {
    changed.push("a second restart wrote to the store's audit chain");
  }
  return changed;
}
