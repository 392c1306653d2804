// Owns the sagas that are undone while something goes wrong, and the judgement of how they ended (E8):
// each effect is undone exactly once and in reverse order, whatever happened. A crash throws every
// object away and reopens the store.

import { deepStrictEqual, equal } from "node:assert/strict";
import type { JsonValue } from "@agenttx/model";
import type { AnyTool } from "../../packages/engine/src/effects/contract.js";
import { EffectsBench } from "../../packages/engine/src/effects/testing/effects-bench.js";
import {
  noAnswer,
  Outside,
  scriptedTool,
} from "../../packages/engine/src/effects/testing/scripted-tool.js";

export const STEPS_MAX = 8;
/** A try more than the undo makes at once: then it is left to the background. */
const FAILS_PAST_TRIES = 3;

/** How the last step ends: refused afterwards, thrown half-way, or without an answer. */
export const ENDINGS = ["refused", "thrown", "lost"] as const;

/** What an undo of one step meets, the first time or the first so many times. */
export interface Trouble {
  readonly undo: number;
  readonly kind: "crash before" | "crash after" | "answer lost" | "fails";
  readonly times: number;
}

export interface SagaCase {
  /** The saga fails after so many steps. */
  readonly failed: number;
  /** It is rewound to before this step. */
  readonly target: number;
  readonly ending: (typeof ENDINGS)[number];
  /** At most one a step. */
  readonly troubles: readonly Trouble[];
  /** The whole undo is asked for again at the end. */
  readonly twice: boolean;
}

export function nameOf({ failed, target, ending, troubles, twice }: SagaCase): string {
  const met = troubles.map(({ undo, kind, times }) => `${kind} ${undo} x${times}`).join(", ");
  return `${failed} steps, ${ending}, down to ${target}; meets: ${met || "nothing"}${twice ? ", twice" : ""}`;
}

/** Every saga x every step to go back to x every ending x every single trouble. */
export function* matrix(): Generator<SagaCase> {
  for (let failed = 1; failed <= STEPS_MAX; failed += 1) {
    for (let target = 1; target <= failed; target += 1) {
      for (const ending of ENDINGS) {
        const saga = { failed, target, ending };
        yield { ...saga, troubles: [], twice: false };
        yield { ...saga, troubles: [], twice: true };
        for (let undo = target; undo <= failed; undo += 1) {
          for (const kind of ["crash before", "crash after", "answer lost"] as const) {
            yield { ...saga, troubles: [{ undo, kind, times: 1 }], twice: false };
          }
          for (const times of [1, 2, 3, 5]) {
            yield { ...saga, troubles: [{ undo, kind: "fails", times }], twice: false };
          }
        }
      }
    }
  }
}

/** A saga that meets several troubles, drawn by `random` (0 to 1). */
export function drawCase(random: () => number): SagaCase {
  const upTo = (most: number) => 1 + Math.floor(random() * most);
  const failed = upTo(STEPS_MAX);
  const target = upTo(failed);
  const troubles: Trouble[] = [];
  for (let undo = target; undo <= failed; undo += 1) {
    if (random() < 0.4) continue;
    const kind = (["crash before", "crash after", "answer lost", "fails"] as const)[upTo(4) - 1];
    if (kind !== undefined)
      troubles.push({ undo, kind, times: kind === "answer lost" ? 1 : upTo(2) });
  }
  const ending = ENDINGS[upTo(ENDINGS.length) - 1] ?? "refused";
  return { failed, target, ending, troubles, twice: random() < 0.5 };
}

/** The service of one case. `crashed()` resolves when the process is to die. */
class Service {
  readonly outside = new Outside();
  readonly tool: AnyTool;
  crashes = 0;
  #crash: () => void = () => undefined;
  readonly #left: Map<number, number>;

  constructor({ ending, failed, troubles }: SagaCase) {
    this.#left = new Map(troubles.map(({ undo, times }) => [undo, times]));
    const kinds = new Map(troubles.map(({ undo, kind }) => [undo, kind]));
    this.tool = scriptedTool("book", {
      deadlineMs: 100,
      lookup: () => ({ status: "landed" }),
      execute: (args): Promise<JsonValue> | JsonValue => {
        this.outside.do(String(args));
        if (args === failed && ending === "thrown") throw new Error("half-way");
        return args === failed && ending === "lost" ? noAnswer<JsonValue>() : args;
      },
      compensate: ({ args }, { undoKey }) => {
        const step = Number(args);
        const left = this.#left.get(step) ?? 0;
        if (left === 0) return this.outside.undo(String(step), undoKey);
        this.#left.set(step, left - 1);
        const kind = kinds.get(step);
        if (kind === "fails") throw new Error("not now");
        if (kind !== "crash before") this.outside.undo(String(step), undoKey);
        if (kind !== "answer lost") this.#crash();
        return noAnswer<void>();
      },
    });
  }

  crashed(): Promise<"crashed"> {
    return new Promise((resolve) => {
      this.#crash = () => {
        this.crashes += 1;
        resolve("crashed");
      };
    });
  }
}

const pastTries = ({ troubles }: SagaCase): Trouble | undefined =>
  troubles.find(({ kind, times }) => kind === "fails" && times >= FAILS_PAST_TRIES);

/** Undoes, over as many crashes as the case has; then the background finishes what is left. */
async function undo(bench: EffectsBench, service: Service, one: SagaCase): Promise<void> {
  for (;;) {
    const driver = await bench.attach();
    const ended = await bench.finish(
      Promise.race([driver.compensate(one.target), service.crashed()]),
    );
    if (ended !== "crashed") break;
    await bench.crash();
  }
  if (one.twice) await bench.finish((await bench.attach()).compensate(one.target));
  if (pastTries(one) === undefined) return;
  equal((await bench.effects.listUnresolved()).length, 1);
  await bench.effects.start(async () => undefined);
  await bench.clock.advance(60_000);
  await bench.effects.close();
}

function expectedOrder(one: SagaCase): string[] {
  const { failed, target } = one;
  const order = Array.from({ length: failed - target + 1 }, (_, index) => failed - index);
  // What three tries could not undo holds nobody back and follows in the background.
  const late = pastTries(one)?.undo;
  if (late === undefined) return order.map(String);
  return [...order.filter((step) => step !== late), late].map(String);
}

export interface SagaFigures {
  readonly effects: number;
  readonly undone: number;
  readonly crashes: number;
}

/** Throws an AssertionError when a promise is broken. */
export async function runCase(one: SagaCase): Promise<SagaFigures> {
  const { failed, target } = one;
  const service = new Service(one);
  const bench = new EffectsBench([service.tool]);
  const driver = await bench.begin();
  for (let step = 1; step <= failed; step += 1) {
    await bench.finish(driver.call(service.tool, step));
  }
  equal(service.outside.standing.length, failed);
  await undo(bench, service, one);
  const kept = Array.from({ length: target - 1 }, (_, index) => `${index + 1}`);
  deepStrictEqual(service.outside.undone, expectedOrder(one));
  deepStrictEqual(service.outside.standing, kept);
  const states = (await bench.effects.listEffects("t1", "")).map(({ state }) => state);
  const undone = Array.from({ length: failed - target + 1 }, () => "compensated");
  deepStrictEqual(states, [...kept.map(() => "confirmed"), ...undone]);
  equal(await bench.undoRecords(), kept.length);
  deepStrictEqual(await bench.effects.listUnresolved(), []);
  const calls = service.outside.calls.filter((call) => call.startsWith("do "));
  equal(calls.length, failed);
  const isCrash = ({ kind }: Trouble) => kind.startsWith("crash");
  const crashes = one.troubles.filter(isCrash).reduce((sum, { times }) => sum + times, 0);
  equal(service.crashes, crashes);
  return { effects: failed, undone: undone.length, crashes };
}
