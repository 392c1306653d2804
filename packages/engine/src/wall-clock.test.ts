// Goal: a wall clock that is set back or forward in the middle of everything breaks no rule: waits
// stay bounded (E8), only idleness ends the idle (P4), nothing unresolved is removed (C10).
// Method: the fake clock's wall time jumps while its monotonic time goes on.
import { describe, expect, it } from "vitest";
import { defineTool } from "./define-tool.js";
import { harness, put, World } from "./testing/harness.js";
import { fields } from "./testing/schema.js";

const FAST = { effects: { inlineTries: 1 } } as const;
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
const JUMPS = [-YEAR_MS, YEAR_MS, -50 * YEAR_MS] as const;

function failingUndo() {
  const state = { closed: true, tries: 0 };
  const tool = defineTool({
    name: "hire",
    schema: fields({}),
    effect: "reversible",
    execute: () => ({}),
    compensate() {
      state.tries += 1;
      if (state.closed) throw new Error("closed");
    },
  });
  return { state, tool };
}

describe.each(JUMPS)("a jump of %d ms", (jumpMs) => {
  it("leaves a transaction as it is: steps, rollback, commit, history", async () => {
    const world = new World();
    const { engine, clock, restart } = harness([put, world.book()]);
    const tx = await engine.begin();
    await tx.step("put", { key: "a", value: 1 });
    await tx.step("book", { item: "x" });
    clock.jump(jumpMs);
    await tx.step("put", { key: "b", value: 2 });
    expect(await tx.rollback(2)).toMatchObject({ rolledBack: true, nextStep: 2 });
    const outcome = await tx.commit();
    expect(outcome).toMatchObject({ status: "COMMITTED", stepsCommitted: 1 });
    expect(world.log).toEqual(["do x", "undo x"]);
    const history = await engine.history(tx.id);
    const steps = history.flatMap((entry) => (entry.kind === "step" ? [entry.step] : []));
    expect(steps).toEqual([1, 2, 3]);
    expect(history.map(({ seq }) => seq)).toEqual(history.map((_, index) => index + 1));
    expect((await engine.list()).map(({ id }) => id)).toEqual([tx.id]);
    clock.jump(-jumpMs);
    expect(await (await (await restart()).resume(tx.id)).commit()).toEqual(outcome);
  });

  it("ends what is idle after its time, and nothing before", async () => {
    const { engine, clock } = harness([put], { idleTimeoutMs: 60_000 });
    const tx = await engine.begin();
    await tx.step("put", { key: "a", value: 1 });
    clock.jump(jumpMs);
    await clock.advance(59_000);
    expect(tx.status).toBe("ACTIVE");
    await clock.advance(2_000);
    expect(await engine.get(tx.id)).toMatchObject({ abortReason: "IDLE_TIMEOUT" });
  });

  it("holds no undo and no delivery longer than the longest wait", async () => {
    const { state, tool } = failingUndo();
    const sent: string[] = [];
    let reachable = false;
    const mail = defineTool({
      name: "mail",
      schema: fields({}),
      effect: "irreversible",
      irreversible: "staged",
      execute() {
        if (!reachable) throw new Error("unreachable");
        sent.push("mail");
        return {};
      },
    });
    const { engine, clock, events } = harness([tool, mail], FAST);
    const undone = await engine.begin();
    await undone.step("hire", {});
    const aborting = undone.abort();
    const mailed = await engine.begin();
    await mailed.step("mail", {});
    const committing = mailed.commit();
    // Few enough tries that the delivery is not parked.
    await clock.advance(5_000);
    await Promise.all([aborting, committing]);
    state.closed = false;
    reachable = true;
    clock.jump(jumpMs);
    await clock.advance(310_000);
    expect(sent).toEqual(["mail"]);
    expect(await engine.unresolved()).toEqual([]);
    expect(events.some(({ kind }) => kind === "effect-resolved")).toBe(true);
  });

  it("lets retention remove nothing that is unresolved", async () => {
    const { tool } = failingUndo();
    const { engine, clock } = harness([tool], FAST);
    const tx = await engine.begin();
    await tx.step("hire", {});
    const aborting = tx.abort();
    await clock.advance(60_000);
    await aborting;
    clock.jump(jumpMs);
    expect(await engine.removeExpired()).toMatchObject({ removed: 0, auditErased: 0 });
    expect(await engine.unresolved()).toHaveLength(1);
    expect((await engine.history(tx.id)).length).toBeGreaterThan(0);
  });
});
