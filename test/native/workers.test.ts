// Goal: worker threads share one database; ending one of them at any moment disturbs no other and
// loses nothing acknowledged (A4). In a child process, so that a crash is an exit code.

import { openStore } from "@agenttx/storage";
import { describe, expect, it } from "vitest";
import { runChild } from "./child-process.js";
import { temporaryDirectory } from "./temporary-directory.js";

describe("worker threads", () => {
  for (const syncWrites of [false, true]) {
    it(`lets 30 workers share a path, half terminated mid-commit (syncWrites ${syncWrites})`, {
      timeout: 120_000,
    }, async () => {
      const path = await temporaryDirectory();
      const child = await runChild("worker-storm.mjs", [path, "30", String(syncWrites)]);
      expect({ ...child, lines: child.lines.at(-1) }).toMatchObject({
        code: 0,
        signal: null,
        lines: "end",
      });
      const acknowledged = child.lines.filter((line) => line.startsWith("w"));
      expect(acknowledged.length).toBeGreaterThanOrEqual(60);
      expect(child.lines.filter((line) => line.startsWith("error"))).toEqual([]);
      await using store = await openStore({ path });
      for (const name of acknowledged) {
        const keys = await store.scan({ prefix: `${name}/` });
        expect(keys.length, name).toBe(300);
      }
      expect((await store.get("main"))?.length).toBe(1);
    });
  }

  it("ends a worker whose answers are still coming in", { timeout: 120_000 }, async () => {
    const path = await temporaryDirectory();
    // Freed memory is overwritten, so that a use after the free shows at the first time.
    const env = { GLIBC_TUNABLES: "glibc.malloc.perturb=165" };
    const child = await runChild("answers-nobody-takes.mjs", [path, "20"], [], env);
    expect(child).toMatchObject({ code: 0, signal: null, lines: ["end"] });
  });
});
