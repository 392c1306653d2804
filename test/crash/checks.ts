// Owns the verdict: what a store and a world hold after a crash, against what was acknowledged.
// Each check adds one line per violation.
import type { Answer, Facts } from "./lines.js";
import type { Acknowledged, Model, ModelTransaction } from "./model.js";
import type { World } from "./world.js";

const SETTLED = ["dropped", "confirmed", "failed", "absent", "compensated", "resolved"];
const ENDED = ["COMMITTED", "ROLLED_BACK", "FAILED"];

export interface Evidence {
  readonly model: Model;
  readonly world: Pick<World, "deeds">;
  /** Items in the sink's file, in order, with the transaction that each line names. */
  readonly sink: readonly { readonly item: string; readonly transaction: string }[];
  readonly facts: Facts;
}

/** Every violation found, in words. */
export function violationsOf(evidence: Evidence): string[] {
  const found = new Findings(evidence);
  found.checkEnds();
  found.checkState();
  found.checkWorld();
  found.checkSink();
  found.checkRecords();
  found.checkChains();
  return found.violations;
}

/** What a commit publishes: key -> value, null = deleted; bumps by counter. */
interface Published {
  readonly writes: ReadonlyMap<string, string | null>;
  readonly bumps: ReadonlyMap<string, number>;
}

class Findings {
  readonly violations: string[] = [];
  readonly #evidence: Evidence;
  readonly #status = new Map<string, string>();
  readonly #committed: ModelTransaction[] = [];

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
    for (const { id, status } of evidence.facts.transactions) this.#status.set(id, status);
  }

  /** Acknowledged ends stand; a transaction ends only as it was asked to, or undone. */
  checkEnds(): void {
    const { model, facts } = this.#evidence;
    for (const tx of model.transactions.values()) {
      const status = this.#status.get(tx.id);
      if (status === undefined) this.#found(`${tx.id} was begun and is gone`);
      else if (ENDED.includes(tx.status) && tx.status !== status) {
        this.#found(`${tx.id} was acknowledged as ${tx.status} and is ${status}`);
      }
      if (status !== "COMMITTED") continue;
      this.#committed.push(tx);
      if (tx.status !== "COMMITTED" && tx.pending?.kind !== "commit") {
        this.#found(`${tx.id} is committed, and nobody asked for it`);
      }
    }
    const unknown = facts.transactions.filter(({ id }) => !model.transactions.has(id));
    if (unknown.length > model.unknownMax) this.#found(`${unknown.length} unknown transactions`);
    for (const { id, status } of unknown) {
      if (status === "COMMITTED") this.#found(`${id} is committed, its begin was not answered`);
    }
    for (const problem of facts.problems) this.#found(`recovery: ${JSON.stringify(problem)}`);
  }

  /** All of a commit's keys or none; the newest committer of each key; every counter exact. */
  checkState(): void {
    const { facts } = this.#evidence;
    const state = new Map(facts.state.map((entry) => [entry.key, entry]));
    const versions = new Map(facts.transactions.map(({ id, version }) => [id, version]));
    const expectedBumps = new Map<string, number>();
    const explained = new Set<string>();
    const shared = new Map<string, { version: bigint; value: string | null }[]>();
    for (const tx of this.#committed) {
      const { writes, bumps } = publishedBy(tx);
      const version = this.#versionOf(tx, versions.get(tx.id) ?? null, writes, state);
      for (const [counter, count] of bumps) {
        expectedBumps.set(counter, (expectedBumps.get(counter) ?? 0) + count);
      }
      for (const [key, value] of writes) {
        if (key.startsWith("k/shared/")) {
          const writers = shared.get(key) ?? [];
          if (version !== null) writers.push({ version, value });
          shared.set(key, writers);
          continue;
        }
        explained.add(key);
        const entry = state.get(key);
        if (entry?.value !== value) this.#found(`${tx.id} committed ${key}, which is not there`);
        else if (version !== null && BigInt(entry.version) !== version) {
          this.#found(`${key} has version ${entry.version}, its commit ${version}`);
        }
      }
    }
    for (const [key, writers] of shared) {
      explained.add(key);
      this.#checkShared(key, writers, state.get(key) ?? null);
    }
    for (const [counter, count] of expectedBumps) {
      explained.add(`n/${counter}`);
      const value = state.get(`n/${counter}`)?.value;
      if (value !== String(count)) {
        this.#found(`counter ${counter} is ${value}, and ${count} bumps were committed`);
      }
    }
    for (const { key } of facts.state) {
      if (!explained.has(key)) this.#found(`${key} was committed by nobody`);
    }
  }

  #versionOf(
    tx: ModelTransaction,
    told: string | null,
    writes: Published["writes"],
    state: ReadonlyMap<string, { readonly version: string }>,
  ): bigint | null {
    if (tx.version !== null && told !== null && tx.version !== told) {
      this.#found(`${tx.id} was acknowledged with version ${tx.version}, and answers ${told}`);
    }
    if (told !== null && told !== "0") return BigInt(told);
    // The process died before the version could be kept: the transaction's own key tells it.
    for (const key of writes.keys()) {
      const entry = key.startsWith("k/own/") ? state.get(key) : undefined;
      if (entry !== undefined) return BigInt(entry.version);
    }
    return null;
  }

  #checkShared(
    key: string,
    writers: readonly { readonly version: bigint; readonly value: string | null }[],
    entry: { readonly value: string; readonly version: string } | null,
  ): void {
    const newest = writers.reduce((one, other) => (other.version > one.version ? other : one), {
      version: 0n,
      value: null as string | null,
    });
    if ((entry?.value ?? null) !== newest.value) {
      this.#found(`${key} is ${entry?.value}, its newest committer wrote ${newest.value}`);
    } else if (entry !== null && BigInt(entry.version) !== newest.version) {
      this.#found(`${key} has version ${entry.version}, its newest commit ${newest.version}`);
    }
  }

  /** Committed: never undone. Everything else: undone once, or one unresolved entry. */
  checkWorld(): void {
    const { world, facts } = this.#evidence;
    const standing = new Set(
      this.#committed.flatMap(({ steps }) => steps.flatMap((one) => itemsOf(one))),
    );
    const open = new Set(facts.open);
    const unresolved = new Map<string, string[]>();
    for (const effect of facts.effects) {
      if (effect.state !== "unresolved") continue;
      const entries = unresolved.get(effect.idempotencyKey) ?? [];
      unresolved.set(effect.idempotencyKey, [...entries, effect.effectId]);
    }
    for (const { key, item, undone } of world.deeds.values()) {
      const entries = unresolved.get(key) ?? [];
      const done = standing.delete(item);
      if (undone > 1) this.#found(`${item} was undone ${undone} times`);
      if (done && undone > 0) this.#found(`${item} is committed and was undone`);
      if (done && entries.length > 0) this.#found(`${item} is committed and unresolved`);
      if (done || undone === 1 || open.has(key.split(".")[0] ?? "")) continue;
      if (entries.length !== 1) {
        this.#found(`${item} stands, was not committed, and has ${entries.length} entries`);
      }
    }
    for (const item of standing) this.#found(`${item} is committed and never happened`);
    for (const [key, entries] of unresolved) {
      if (entries.length > 1) this.#found(`${key} has ${entries.length} unresolved entries`);
    }
  }

  /** Staged effects: after their commit at least once, never without it. */
  checkSink(): void {
    const { sink } = this.#evidence;
    const wanted = new Map<string, string>();
    for (const tx of this.#committed) {
      for (const { tool, rid } of tx.steps) if (tool === "effect.stage") wanted.set(rid, tx.id);
    }
    const delivered = new Set<string>();
    for (const { item, transaction } of sink) {
      delivered.add(item);
      if (wanted.get(item) !== transaction) this.#found(`${item} was sent, and not committed`);
    }
    for (const item of wanted.keys()) {
      if (!delivered.has(item)) this.#found(`${item} was committed, and never sent`);
    }
  }

  /** A finished transaction leaves its ledger and answers, and nothing of its work. */
  checkRecords(): void {
    const { facts } = this.#evidence;
    const open = new Set(facts.open);
    for (const { id, status } of facts.transactions) {
      if (ENDED.includes(status) === open.has(id)) {
        this.#found(`${id} is ${status}, and ${open.has(id) ? "" : "not "}open on disk`);
      }
    }
    const unresolved = facts.effects.filter(({ state }) => state === "unresolved");
    const holding = new Set(unresolved.map(({ transaction }) => transaction));
    for (const { space, transaction } of facts.records) {
      if (open.has(transaction)) continue;
      const orphan =
        space === "output" || space === "outbox" || (space === "saga" && !holding.has(transaction));
      if (orphan) this.#found(`${transaction} has ended and left a record in ${space}`);
    }
    for (const { effectId, state, transaction, tool } of facts.effects) {
      if (open.has(transaction)) continue;
      if (state === "unresolved") {
        if (tool !== "wire") this.#found(`${effectId} of ${tool} is unresolved`);
        if (this.#status.get(transaction) === "COMMITTED") {
          this.#found(`${effectId} is unresolved, and its transaction is committed`);
        }
      } else if (!SETTLED.includes(state)) this.#found(`${effectId} was left ${state}`);
    }
    const listed = facts.records.filter(({ name }) => name.startsWith("unresolved/")).length;
    const ids = new Set(facts.unresolved);
    if (listed !== unresolved.length || ids.size !== facts.unresolved.length) {
      this.#found(`${listed} entries are listed for ${unresolved.length} unresolved effects`);
    }
    for (const { effectId } of unresolved) {
      if (!ids.has(effectId)) this.#found(`${effectId} is unresolved and not listed`);
    }
  }

  checkChains(): void {
    const { facts } = this.#evidence;
    if (!facts.storeChain.whole) this.#found("the store's audit chain is broken");
    for (const { id, chain } of facts.transactions) {
      if (!chain.whole) this.#found(`the audit chain of ${id} is broken`);
      else if (chain.entries === 0) this.#found(`${id} has no audit chain`);
    }
  }

  #found(text: string): void {
    this.violations.push(text);
  }
}

function publishedBy({ steps }: ModelTransaction): Published {
  const writes = new Map<string, string | null>();
  const bumps = new Map<string, number>();
  for (const { tool, args } of steps) {
    const key = `k/${String(args.key)}`;
    if (tool === "kv.put") writes.set(key, JSON.stringify(args.value));
    else if (tool === "kv.delete") writes.set(key, null);
    else if (tool === "bump") {
      const counter = String(args.counter);
      bumps.set(counter, (bumps.get(counter) ?? 0) + 1);
    }
  }
  return { writes, bumps };
}

/** What a step that stands has done to the world. */
function itemsOf({ tool, args }: { tool: string; args: Readonly<Record<string, unknown>> }) {
  const item = String(args.item);
  if (tool === "book" || tool === "wire") return [item];
  return tool === "parts" ? ["a", "b", "c"].map((part) => `${item}+${part}`) : [];
}

/** Answers to requests that are sent once more, against what was acknowledged (P1). */
export function wrongAnswers(
  model: Model,
  facts: Facts,
  asked: readonly Acknowledged[],
): readonly string[] {
  const given = new Map(facts.answers?.map(({ rid, answer }) => [rid, answer]));
  const status = new Map(facts.transactions.map((one) => [one.id, one.status]));
  const wrong: string[] = [];
  for (const { rid, tx } of model.begins) {
    const answer = given.get(rid);
    if (answer !== undefined && (answer.kind !== "begun" || answer.tx !== tx)) {
      wrong.push(`begin ${rid} gave ${tx}, and now ${JSON.stringify(answer)}`);
    }
  }
  for (const one of asked) {
    const answer = given.get(one.rid);
    const steps = model.transactions.get(one.tx)?.steps ?? [];
    const committed = status.get(one.tx) === "COMMITTED";
    const stands = committed && steps.some(({ rid }) => rid === one.rid);
    if (answer === undefined || !isRight(one, stands, answer)) {
      wrong.push(`${one.rid} (${one.answer.status}) is answered ${JSON.stringify(answer)}`);
    }
  }
  return wrong;
}

function isRight({ answer: first }: Acknowledged, stands: boolean, again: Answer): boolean {
  if (first.status === "SUCCESS" && !stands) {
    return again.kind === "refused" && again.code === "REQUEST_UNDONE";
  }
  if (again.kind !== "answered" || !again.repeated) return false;
  return (
    again.status === first.status &&
    again.step === first.step &&
    again.nextStep === first.nextStep &&
    JSON.stringify(again.output) === JSON.stringify(first.output)
  );
}
