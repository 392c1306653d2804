// Goal: whatever happens while a saga is undone, each effect is undone exactly once and in reverse
// order (E8). Method: full enumeration of sagas that fail after 1..8 steps x every step to rewind to x
// how the last step fails x what happens to each undo; a crash throws every object away and reopens
// the store.

import type { JsonValue } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import type { AnyTool } from "../../packages/engine/src/effects/contract.js";
import { EffectsBench } from "../../packages/engine/src/effects/testing/effects-bench.js";
import {
  noAnswer,
  Outside,
  scriptedTool,
} from "../../packages/engine/src/effects/testing/scripted-tool.js";
import type { SmallDriver } from "../../packages/engine/src/effects/testing/small-driver.js";

const STEPS_MAX = 8;

/** How the last step ends: refused afterwards, thrown half-way, or without an answer. */
const ENDINGS = ["refused", "thrown", "lost"] as const;
type Ending = (typeof ENDINGS)[number];

type Trouble =
  | { readonly kind: "none" }
  | { readonly kind: "undone twice" }
  | { readonly kind: "crash before"; readonly undo: number }
  | { readonly kind: "crash after"; readonly undo: number }
  | { readonly kind: "fails"; readonly undo: number; readonly times: number }
  | { readonly kind: "answer lost"; readonly undo: number };

function troublesOf(target: number, failed: number): Trouble[] {
  const troubles: Trouble[] = [{ kind: "none" }, { kind: "undone twice" }];
  for (let undo = target; undo <= failed; undo += 1) {
    troubles.push({ kind: "crash before", undo }, { kind: "crash after", undo });
    troubles.push({ kind: "answer lost", undo });
    for (const times of [1, 2, 3, 5]) troubles.push({ kind: "fails", undo, times });
  }
  return troubles;
}

/** The service of one case. `crashed` resolves when the process is to die. */
class Service {
  readonly outside = new Outside();
  readonly crashed: Promise<"crashed">;
  readonly tool: AnyTool;
  #crash: () => void = () => undefined;
  #left: number;

  constructor(ending: Ending, lastStep: number, trouble: Trouble) {
    this.#left = trouble.kind === "fails" ? trouble.times : trouble.kind === "none" ? 0 : 1;
    this.crashed = new Promise((resolve) => {
      this.#crash = () => resolve("crashed");
    });
    this.tool = scriptedTool("book", {
      deadlineMs: 100,
      lookup: () => ({ status: "landed" }),
      execute: (args): Promise<JsonValue> | JsonValue => {
        this.outside.do(String(args));
        if (args === lastStep && ending === "thrown") throw new Error("half-way");
        return args === lastStep && ending === "lost" ? noAnswer<JsonValue>() : args;
      },
      compensate: ({ args }, { undoKey }) => {
        const hit = "undo" in trouble && trouble.undo === args && this.#left > 0;
        if (!hit) return this.outside.undo(String(args), undoKey);
        this.#left -= 1;
        if (trouble.kind === "fails") throw new Error("not now");
        if (trouble.kind !== "crash before") this.outside.undo(String(args), undoKey);
        if (trouble.kind !== "answer lost") this.#crash();
        return noAnswer<void>();
      },
    });
  }
}

interface Case {
  /** The saga fails after so many steps. */
  readonly failed: number;
  /** It is rewound to before this step. */
  readonly target: number;
  readonly ending: Ending;
  readonly trouble: Trouble;
}

/** Undoes, over a crash if the case has one; then lets the background finish what is left. */
async function undo(bench: EffectsBench, driver: SmallDriver, service: Service, one: Case) {
  const { target, trouble } = one;
  const first = bench.finish(Promise.race([driver.compensate(target), service.crashed]));
  if ((await first) === "crashed") {
    await bench.crash();
    await bench.finish((await bench.attach()).compensate(target));
  }
  if (trouble.kind === "undone twice") {
    await bench.finish((await bench.attach()).compensate(target));
  }
  if (trouble.kind !== "fails" || trouble.times < 3) return;
  expect(await bench.effects.listUnresolved()).toHaveLength(1);
  await bench.effects.start(async () => undefined);
  await bench.clock.advance(60_000);
  await bench.effects.close();
}

function expectedOrder({ failed, target, trouble }: Case): string[] {
  const order = Array.from({ length: failed - target + 1 }, (_, index) => failed - index);
  // What three tries could not undo holds nobody back and follows in the background.
  if (trouble.kind !== "fails" || trouble.times < 3) return order.map(String);
  return [...order.filter((step) => step !== trouble.undo), trouble.undo].map(String);
}

async function runCase(one: Case): Promise<void> {
  const { failed, target } = one;
  const service = new Service(one.ending, failed, one.trouble);
  const bench = new EffectsBench([service.tool]);
  const driver = await bench.begin();
  for (let step = 1; step <= failed; step += 1) {
    await bench.finish(driver.call(service.tool, step));
  }
  expect(service.outside.standing).toHaveLength(failed);
  await undo(bench, driver, service, one);
  const kept = Array.from({ length: target - 1 }, (_, index) => `${index + 1}`);
  expect(service.outside.undone).toEqual(expectedOrder(one));
  expect(service.outside.standing).toEqual(kept);
  const states = (await bench.effects.listEffects("t1", "")).map(({ state }) => state);
  const undone = Array.from({ length: failed - target + 1 }, () => "compensated");
  expect(states).toEqual([...kept.map(() => "confirmed"), ...undone]);
  expect(await bench.undoRecords()).toBe(kept.length);
  expect(await bench.effects.listUnresolved()).toEqual([]);
  const calls = service.outside.calls.filter((call) => call.startsWith("do "));
  expect(calls).toHaveLength(failed);
}

let cases = 0;

for (let failed = 1; failed <= STEPS_MAX; failed += 1) {
  describe(`a saga that fails after ${failed} steps`, () => {
    for (let target = 1; target <= failed; target += 1) {
      for (const ending of ENDINGS) {
        for (const trouble of troublesOf(target, failed)) {
          cases += 1;
          const what = Object.values(trouble).join(" ");
          it(`(${ending}) is undone down to step ${target}; the undo meets: ${what}`, async () => {
            await runCase({ failed, target, ending, trouble });
          });
        }
      }
    }
  });
}

describe("the matrix", () => {
  it("has more than 2,000 cases", () => {
    expect(cases).toBeGreaterThan(2_000);
  });
});
