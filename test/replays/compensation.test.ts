// Goal: bug reports 21, 23, 25, 27. Undo runs outside the caller's cancellation, for everything that
// was recorded, newest first, and once.
import { defineTool } from "@agenttx/engine";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { DRIVERS, start, withTime } from "./drivers.js";
import { gated, kv, outside, until } from "./tools.js";

describe.each(DRIVERS)("on $name", (driver) => {
  it("21: an abort during a running step undoes the finished ones, newest first", async () => {
    const { tool, log } = outside("book");
    const third = gated("third");
    const { engine } = await start(driver, [tool, third.tool]);
    const tx = await engine.begin();
    await tx.step("book", { item: "1" });
    await tx.step("book", { item: "2" });
    const stopper = new AbortController();
    const running = tx.step("third", {}, { signal: stopper.signal });
    running.catch(() => undefined);
    await until(() => third.state.runs === 1);
    stopper.abort();
    const outcome = await tx.abort("CLIENT_GONE");
    await expect(running).rejects.toMatchObject({ code: "ABORTED_BY_SIGNAL" });
    expect(outcome).toMatchObject({ rolledBack: true, compensationsRun: 2 });
    expect(log).toEqual(["do 1", "do 2", "undo 2", "undo 1"]);
  });

  it("23: every recorded part of a cancelled step is undone, no more and no fewer", async () => {
    const undone: unknown[] = [];
    let waiting = false;
    const collect = defineTool({
      name: "collect",
      schema: z.strictObject({ stopAfter: z.number() }),
      effect: "reversible",
      async execute({ stopAfter }, { registerUndo, signal }) {
        for (let payment = 1; payment <= 3; payment += 1) {
          await registerUndo("refund", { payment });
          if (payment === stopAfter) {
            waiting = true;
            await new Promise((_resolve, reject) => {
              if (signal.aborted) reject(new Error("cancelled"));
              signal.addEventListener("abort", () => reject(new Error("cancelled")));
            });
          }
        }
        return null;
      },
      undo: {
        refund: (args) => {
          undone.push(args);
        },
      },
      lookup: () => ({ status: "landed" }),
    });
    const { engine, clock } = await start(driver, [collect]);
    const tx = await engine.begin();
    const stopper = new AbortController();
    const running = tx.step("collect", { stopAfter: 2 }, { signal: stopper.signal });
    running.catch(() => undefined);
    await until(() => waiting);
    stopper.abort();
    await withTime(
      clock,
      running.catch(() => undefined),
    );
    await withTime(clock, tx.abort());
    expect(undone).toEqual([{ payment: 2 }, { payment: 1 }]);
  });

  it("25: a rollback undoes every step after the target, the failed one only if it acted", async () => {
    const { tool, log } = outside("book");
    const { engine } = await start(driver, [tool, ...kv], { policy: { maxLocalDepth: 0 } });
    const tx = await engine.begin();
    await tx.step("book", { item: "1" });
    expect(await tx.step("book", { item: "2", fail: true })).toMatchObject({
      strategy: "GLOBAL_RESET",
      nextStep: 1,
    });
    expect(log).toEqual(["do 1", "undo 1"]);
  });

  it("27: what arrives during a rollback joins it or is refused; each undo runs once", async () => {
    let undos = 0;
    let open = (): void => undefined;
    const book = defineTool({
      name: "book",
      schema: z.strictObject({}),
      effect: "reversible",
      execute: () => null,
      compensate: () =>
        new Promise<void>((resolve) => {
          undos += 1;
          open = resolve;
        }),
    });
    const { engine } = await start(driver, [book, ...kv]);
    const tx = await engine.begin();
    await tx.step("book", {});
    const rollback = tx.rollback(1);
    await until(() => undos === 1);
    const joined = tx.rollback(1);
    const resumed = await engine.resume(tx.id);
    const busy = { code: "STEP_IN_PROGRESS" };
    await expect(resumed.step("book", {})).rejects.toMatchObject(busy);
    await expect(resumed.rollback(2)).rejects.toMatchObject(busy);
    await expect(resumed.commit()).rejects.toMatchObject(busy);
    expect(await engine.recover()).toMatchObject({ found: 0 });
    open();
    expect(await joined).toEqual(await rollback);
    expect(undos).toBe(1);
    expect(await tx.abort()).toMatchObject({ rolledBack: true });
    expect(undos).toBe(1);
  });
});
