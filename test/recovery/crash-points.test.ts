// Goal: a recovery survives its own death at every point, and every answer that is lost or late.
// Method: each scenario is run once to count its durable writes and external calls. Then it is run
// again with a death before and after every write and every call, and with the answer of every call
// lost and late; another process goes on from what is on disk.
import type { Store } from "@agenttx/model";
import { auditHash, auditStart } from "@agenttx/storage/memory";
import { type FaultPlan, fakeClock, faultyStore, openMemoryStore } from "@agenttx/testkit";
import { afterAll, describe, expect, it } from "vitest";
import { ORDER, runOrder, SCENARIOS, type Scenario } from "./order-run.js";
import { type House, house, type OrderWorld, orderWorld, textOf } from "./order-world.js";

const MINUTE_MS = 60_000;
const BEGIN_MS = Date.UTC(2026, 0, 1);
let points = 0;

interface Trial {
  /** Which durable write, from 1; the process is dead from then on. */
  readonly write?: Pick<FaultPlan, "write" | "when">;
  /** Which external call, from 1, and what happens to it. */
  readonly call?: {
    readonly number: number;
    readonly what: "dies-before" | "dies-after" | "lost" | "late";
  };
}

interface Played {
  readonly world: OrderWorld;
  readonly memory: Store;
  readonly last: House;
  readonly writes: number;
  readonly calls: number;
  readonly died: boolean;
}

/** One process that may die, then one that does not. */
async function play(scenario: Scenario, trial: Trial): Promise<Played> {
  const world = orderWorld();
  const memory = openMemoryStore();
  const { write, call } = trial;
  const store = faultyStore(memory, write === undefined ? null : { ...write, ...DEAD });
  const clock = fakeClock({ startMs: BEGIN_MS });
  const owners = [world.stock, world.carrier, world.bank];
  const seen = { calls: 0, died: false };
  const isDead = (): boolean => seen.died || (write?.write ?? Infinity) <= store.writes.length;
  const hook = async (_name: string, when: "before" | "after"): Promise<void> => {
    if (isDead()) throw new Error("a dead process calls nobody");
    if (when === "before") seen.calls += 1;
    if (seen.calls !== call?.number) return;
    if (call.what === `dies-${when}`) {
      seen.died = true;
      store.setPlan({ write: 1, when: "before", ...DEAD });
      throw new Error("the process is dead");
    }
    if (when === "before" || call.what.startsWith("dies")) return;
    await new Promise<void>((done) => {
      if (call.what === "late") clock.schedule(5_000, done);
    });
  };
  for (const owner of owners) owner.hook = hook;
  const first = house(world, store, {}, clock);
  const ended = await pump(clock, runOrder(first, world, scenario), isDead);
  for (const owner of owners) owner.hook = null;
  const counts = { writes: store.writes.length, calls: seen.calls, died: isDead() };
  if (!counts.died) {
    if (!ended) throw new Error("the run hangs");
    return { world, memory, last: { ...first, store: memory }, ...counts };
  }
  await memory.reopen();
  const later = fakeClock({ startMs: BEGIN_MS + 60 * MINUTE_MS });
  const last = house(world, memory, {}, later);
  if (!(await pump(later, runOrder(last, world, scenario)))) throw new Error("recovery hangs");
  return { world, memory, last, ...counts };
}

const DEAD = { kind: "throw", sticky: true } as const;
const TURNS_MAX = 500;
const QUIET_TURNS = 4;

/** Lets time pass while the work waits for nothing but time. False: it hangs, or is dead. */
async function pump(
  clock: ReturnType<typeof fakeClock>,
  work: Promise<void>,
  isDead: () => boolean = () => false,
): Promise<boolean> {
  const state: { ended: "no" | "yes" | Error } = { ended: "no" };
  work.then(
    () => {
      state.ended = "yes";
    },
    (error: unknown) => {
      state.ended = error instanceof Error ? error : new Error(String(error));
    },
  );
  for (let turn = 0; state.ended === "no" && turn < TURNS_MAX; turn += 1) {
    for (let quiet = 0; quiet < QUIET_TURNS && state.ended === "no"; quiet += 1) {
      await clock.advance(0);
    }
    if (isDead()) return false;
    if (state.ended === "no") await clock.advanceToNext();
  }
  if (state.ended instanceof Error && !isDead()) throw state.ended;
  return state.ended === "yes";
}

async function requireWhole(played: Played, scenario: Scenario, about: string): Promise<void> {
  const { world, memory, last } = played;
  for (const owner of [world.stock, world.carrier]) {
    expect(
      [...owner.done.values()].every((count) => count === 1),
      about,
    ).toBe(true);
    expect(
      [...owner.undone.values()].every((count) => count === 1),
      about,
    ).toBe(true);
  }
  const { stock, carrier } = scenario.standing;
  expect([world.stock.standing().length, world.carrier.standing().length], about).toEqual([
    stock,
    carrier,
  ]);
  expect(world.mails.length, about).toBe(1);
  const booking = scenario.revised.find(([, args]) => args.key === "booking")?.[1].value ?? null;
  expect([await textOf(memory, "reservation"), await textOf(memory, "booking")], about).toEqual([
    "r1",
    booking,
  ]);
  expect(await memory.openTransactions(), about).toEqual([]);
  expect(await last.engine.unresolved(), about).toEqual([]);
  const { revisions, state } = await last.recovery.workflows.get(ORDER);
  expect(state, about).toBe("Running");
  expect(revisions.length, about).toBe(2);
  const replay = await last.recovery.replay(ORDER);
  expect(replay.consistent, `${about}: ${JSON.stringify(replay.transitions)}`).toBe(true);
  for (const { transaction } of revisions) await requireChain(memory, transaction, about);
  await requireChain(memory, null, about);
}

async function requireChain(store: Store, transaction: string | null, about: string) {
  let previous = auditStart(transaction);
  for (const { seq, payload, hash } of await store.readAudit(transaction, { limit: 100_000 })) {
    previous = auditHash(previous, seq, payload);
    expect(Buffer.from(hash).equals(Buffer.from(previous)), `${about}, entry ${seq}`).toBe(true);
  }
}

async function tryOut(scenario: Scenario, trial: Trial): Promise<Played> {
  const about = `${scenario.name}: ${JSON.stringify(trial)}`;
  const played = await play(scenario, trial).catch((cause: unknown) => {
    throw new Error(about, { cause });
  });
  await requireWhole(played, scenario, about);
  points += 1;
  return played;
}

describe.each(SCENARIOS)("$name", (scenario) => {
  it("ends whole when nothing goes wrong", async () => {
    const played = await tryOut(scenario, {});
    expect(played.died).toBe(false);
  });

  it.each(["before", "after"] as const)("ends whole after a death %s any write", async (when) => {
    for (let write = 1; ; write += 1) {
      const { died } = await tryOut(scenario, { write: { write, when } });
      if (!died) {
        expect(write).toBeGreaterThan(20);
        return;
      }
    }
  });

  it.each(["dies-before", "dies-after", "lost", "late"] as const)(
    "ends whole when at any call to an owner: %s",
    async (what) => {
      const { calls } = await play(scenario, {});
      expect(calls).toBeGreaterThan(2);
      for (let number = 1; number <= calls; number += 1) {
        await tryOut(scenario, { call: { number, what } });
      }
    },
  );
});

afterAll(() => {
  process.stdout.write(`recovery: ${points} crash points and lost or late answers survived\n`);
});
