// Goal: bug reports 03, 15, 17, 19, 45. One request, one execution: in races, after timeouts of the
// client, after rollbacks and restarts, and enforced by the store itself.
import { describe, expect, it } from "vitest";
import { DRIVERS, start } from "./drivers.js";
import { decoded, gated, kv, outside, until } from "./tools.js";

describe.each(DRIVERS)("on $name", (driver) => {
  it("03: two racing requests for one step give one execution and one result", async () => {
    const { tool, state } = gated("wait");
    for (const options of [{ stepId: 1 }, { requestId: "t1" }, { stepId: 1, requestId: "t1" }]) {
      state.runs = 0;
      const { engine } = await start(driver, [tool]);
      const tx = await engine.begin();
      const both = Promise.all([tx.step("wait", {}, options), tx.step("wait", {}, options)]);
      await until(() => state.runs === 1);
      state.open();
      const [one, other] = await both;
      expect(other).toEqual({ ...one, repeated: true });
      expect(state.runs).toBe(1);
      expect((await tx.history()).filter(({ kind }) => kind === "step")).toHaveLength(1);
    }
  });

  it("15: the store itself accepts one batch per step, whoever sends the other", async () => {
    const { store } = await start(driver, kv);
    const rounds = 200;
    const first = await store.begin("race");
    const second = await store.attach("race");
    for (let step = 1; step <= rounds; step += 1) {
      const batch = (who: string) => ({
        fence: { owner: 1n, attempt: 0, step },
        next: { step: step + 1 },
        snapshot: step + 1,
        writes: [{ key: `k${step}`, value: Buffer.from(JSON.stringify(who)) }],
      });
      const sent = await Promise.allSettled([
        first.apply(batch("first")),
        second.apply(batch("second")),
      ]);
      const refused = sent.filter((one) => one.status === "rejected");
      expect(refused).toHaveLength(1);
      expect(refused[0]).toMatchObject({ reason: { code: "STEP_OUT_OF_ORDER" } });
      const winner = sent[0]?.status === "fulfilled" ? "first" : "second";
      expect(decoded(await first.get(`k${step}`))).toBe(winner);
    }
  });

  it("17: a missing request id never equals another missing one; an empty one is refused", async () => {
    const { engine } = await start(driver, kv);
    const tx = await engine.begin();
    for (let round = 0; round < 2; round += 1) {
      await tx.step("kv.put", { key: "k", value: round });
      expect(await tx.rollback(1)).toMatchObject({ rolledBack: true, writesReverted: 1 });
    }
    await tx.step("kv.put", { key: "k", value: 2 });
    const invalid = { code: "INVALID_ARGUMENT" };
    await expect(tx.rollback(1, { requestId: "" })).rejects.toMatchObject(invalid);
    await expect(tx.reportFailure(1, { text: "x", requestId: "" })).rejects.toMatchObject(invalid);
    expect(tx.nextStep).toBe(2);
    const named = await tx.rollback(1, { requestId: "r1" });
    await tx.step("kv.put", { key: "k", value: 3 });
    expect(await tx.rollback(1, { requestId: "r1" })).toEqual(named);
    expect(tx.nextStep).toBe(2);
  });

  it("19: request ids survive a rollback, a reset, a restart and an abort", async () => {
    const { tool, log } = outside("charge");
    const { engine, restart } = await start(driver, [tool, ...kv], {
      policy: { maxLocalDepth: 0 },
    });
    const tx = await engine.begin();
    const late = { requestId: "r5" };
    const undone = { code: "REQUEST_UNDONE" };
    await tx.step("charge", { item: "a" }, late);
    await tx.rollback(1);
    await expect(tx.step("charge", { item: "a" }, late)).rejects.toMatchObject(undone);
    await tx.step("kv.put", { key: "k", value: 1 });
    expect(await tx.step("nope", {})).toMatchObject({ strategy: "GLOBAL_RESET" });
    await expect(tx.step("charge", { item: "a" }, late)).rejects.toMatchObject(undone);
    await engine.close();
    const later = await (await restart()).resume(tx.id);
    await expect(later.step("charge", { item: "a" }, late)).rejects.toMatchObject(undone);
    await later.abort();
    await expect(later.step("charge", { item: "a" }, late)).rejects.toMatchObject(undone);
    expect(log).toEqual(["do a", "undo a"]);
  });

  it("45: a client that gives up and repeats gets the one result", async () => {
    const { tool, state } = gated("slow");
    const { engine } = await start(driver, [tool]);
    const tx = await engine.begin();
    const call = () => tx.step("slow", {}, { requestId: "r1" });
    const tries = [call(), call(), call(), call(), call()];
    await until(() => state.runs === 1);
    state.open();
    for (const outcome of await Promise.all(tries)) {
      expect(outcome).toMatchObject({ status: "SUCCESS", output: { run: 1 } });
    }
    expect(await call()).toMatchObject({ output: { run: 1 }, repeated: true });
    expect(state.runs).toBe(1);
  });
});
