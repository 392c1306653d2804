// Goal: bug report 41. Under `serializable` a read is part of the commit, absence included; the
// default commits, and that is shown too.
import { describe, expect, it } from "vitest";
import { DRIVERS, start } from "./drivers.js";
import { kv } from "./tools.js";

describe.each(DRIVERS)("on $name", (driver) => {
  it.each([
    ["a key that was read and then deleted", true],
    ["a key that was read as absent and then created", false],
  ])("41: %s is a conflict when serializable, and not by default", async (_what, exists) => {
    for (const isolation of ["serializable", "read-committed"] as const) {
      const { engine } = await start(driver, kv);
      if (exists) {
        await engine.transaction(async (tx) => {
          await tx.step("kv.put", { key: "k", value: 1 });
        });
      }
      const reader = await engine.begin({ isolation });
      await reader.step("kv.get", { key: "k" });
      await reader.step("kv.put", { key: "m", value: 1 });
      await engine.transaction(async (tx) => {
        if (exists) await tx.step("kv.delete", { key: "k" });
        else await tx.step("kv.put", { key: "k", value: 1 });
      });
      const commit = reader.commit();
      if (isolation === "serializable") {
        await expect(commit).rejects.toMatchObject({
          code: "WRITE_CONFLICT",
          details: { keys: ["k"] },
        });
      } else {
        await expect(commit).resolves.toMatchObject({ status: "COMMITTED" });
      }
    }
  });
});
