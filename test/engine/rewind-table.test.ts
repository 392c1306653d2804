// Goal: the rewind table. One failing step in each of eight positions x every decision x effects
// before and after the target: exactly which effects stand, were undone, were dropped.
import { createEngine, defineTool } from "@agenttx/engine";
import { fakeClock, openMemoryStore } from "@agenttx/testkit";
import { describe, expect, it } from "vitest";
import { z } from "zod";

type EffectKind = "booked" | "mailed" | "stored" | "none";
const KINDS: readonly EffectKind[] = ["booked", "mailed", "stored", "none"];

const POSITIONS = [1, 2, 3, 4, 5, 6, 7, 8];

interface Decision {
  readonly strategy: "DEPENDENCY_JUMP" | "LOCAL_BACKTRACK" | "GLOBAL_RESET" | "ABORT" | "MANUAL";
  /** First step that is undone, for the failing step K; null when the decision cannot happen. */
  readonly target: (failing: number) => number | null;
  readonly policy: { readonly maxLocalDepth: number; readonly maxGlobalResets: number };
  /** The producer that the failing step's input refers to. */
  readonly root: (failing: number) => number | null;
}

const none = () => null;
const DEEP = { maxLocalDepth: 2, maxGlobalResets: 1 };
const DECISIONS: readonly Decision[] = [
  ...[1, 2, 3].map(
    (distance): Decision => ({
      strategy: "DEPENDENCY_JUMP",
      policy: DEEP,
      root: (failing) => (failing - distance >= 1 ? failing - distance : null),
      target: (failing) => (failing - distance >= 1 ? failing - distance : null),
    }),
  ),
  {
    strategy: "LOCAL_BACKTRACK",
    policy: DEEP,
    root: none,
    target: (failing) => Math.max(failing - 1, 1),
  },
  {
    strategy: "GLOBAL_RESET",
    policy: { maxLocalDepth: 0, maxGlobalResets: 1 },
    root: none,
    target: () => 0,
  },
  {
    strategy: "ABORT",
    policy: { maxLocalDepth: 0, maxGlobalResets: 0 },
    root: none,
    target: () => 0,
  },
  { strategy: "MANUAL", policy: DEEP, root: none, target: (failing) => Math.ceil(failing / 2) },
];

/** Tools that keep one list: what stands outside. */
function outside() {
  const standing = new Set<string>();
  const undone: string[] = [];
  const sent: string[] = [];
  const schema = z.strictObject({
    name: z.string(),
    value: z.json().optional(),
    fail: z.string().optional(),
  });
  const run = (name: string, fail: string | undefined) => {
    if (fail !== undefined) throw new Error(fail);
    return { [`id_${name}`]: `value-of-${name}` };
  };
  const tools = [
    defineTool({
      name: "booked",
      schema,
      effect: "reversible",
      execute({ name, fail }) {
        const output = run(name, fail);
        standing.add(name);
        return output;
      },
      compensate({ args }) {
        if (standing.delete(args.name)) undone.push(args.name);
      },
    }),
    defineTool({
      name: "mailed",
      schema,
      effect: "irreversible",
      irreversible: "staged",
      execute({ name }) {
        sent.push(name);
        return {};
      },
    }),
    defineTool({
      name: "stored",
      schema,
      effect: "reversible",
      scope: "store",
      execute({ name, fail }, { state }) {
        const output = run(name, fail);
        state.put(name, Buffer.from("1"));
        return output;
      },
    }),
    defineTool({
      name: "none",
      schema,
      effect: "read-only",
      retry: 0,
      execute: ({ name, fail }) => run(name, fail),
    }),
  ] as const;
  return { tools, standing, undone, sent };
}

describe.each(DECISIONS.map((decision, index) => ({ decision, index })))(
  "$decision.strategy ($index)",
  ({ decision }) => {
    it.each(POSITIONS)("at step %i", async (failing) => {
      const target = decision.target(failing);
      if (target === null) return expect(failing).toBeLessThanOrEqual(3);
      for (let shift = 0; shift < KINDS.length; shift += 1) await check(decision, failing, shift);
    });
  },
);

async function check(decision: Decision, failing: number, shift: number): Promise<void> {
  const target = decision.target(failing) ?? 0;
  // Every kind stands once in every position, before and after every target.
  const kindOf = (step: number): EffectKind =>
    KINDS[(step * 3 + Math.floor(step / 4) + shift) % 4] ?? "none";
  const { tools, standing, undone, sent } = outside();
  const store = openMemoryStore();
  const engine = createEngine({ store, tools, clock: fakeClock() });
  const tx = await engine.begin({ policy: decision.policy });
  const root = decision.root(failing);
  // The root gives its value to nobody but the failing step: a staged step has no output to give.
  const kinds = POSITIONS.map((step) => (step === root ? "booked" : kindOf(step)));
  const steps = POSITIONS.filter((step) => step < failing);
  for (const step of steps) {
    const outcome = await tx.step(kinds[step - 1] ?? "none", { name: `s${step}` });
    expect(outcome.status).toBe("SUCCESS");
  }
  const failure = await fail();
  const of = (kind: EffectKind, from: number, to: number) =>
    steps.filter((step) => step >= from && step < to && kinds[step - 1] === kind);
  const names = (list: readonly number[]) => list.map((step) => `s${step}`);
  const first = Math.max(target, 1);
  expect(failure, `failing ${failing}, shift ${shift}`).toBe(decision.strategy);
  expect([...standing]).toEqual(names(of("booked", 1, first)));
  expect(undone).toEqual(names(of("booked", first, failing)).reverse());
  expect(sent).toEqual([]);
  if (decision.strategy === "ABORT") {
    expect(tx.status).toBe("FAILED");
    expect(await store.scan()).toEqual([]);
    return;
  }
  expect(tx.nextStep).toBe(first);
  await tx.commit();
  expect(sent).toEqual(names(of("mailed", 1, first)));
  const keys = (await store.scan()).map(({ key }) => Buffer.from(key).toString());
  expect(keys).toEqual(names(of("stored", 1, first)).sort());

  async function fail(): Promise<string | null> {
    if (decision.strategy === "MANUAL") {
      const { rolledBack } = await tx.rollback(Math.max(target, 1));
      return rolledBack ? "MANUAL" : null;
    }
    const key = `id_s${root}`;
    const outcome = await tx.step("none", {
      name: "failing",
      ...(root === null
        ? { fail: "it did not work" }
        : {
            value: { [key]: `value-of-s${root}` },
            fail: `violates foreign key constraint: Key (${key})=(1) is not present in table "t"`,
          }),
    });
    return outcome.status === "SUCCESS" ? null : outcome.strategy;
  }
}
