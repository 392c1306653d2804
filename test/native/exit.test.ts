// Goal: a process ends by any route with open handles and work in flight; no crash, no hang, and
// what was acknowledged is there afterwards (A4).

import { openStore } from "@agenttx/storage";
import { describe, expect, it } from "vitest";
import { runChild } from "./child-process.js";
import { temporaryDirectory } from "./temporary-directory.js";

const ROUTES: Readonly<Record<string, { code: number | null; signal: string | null }>> = {
  "natural end": { code: 0, signal: null },
  "natural end after close": { code: 0, signal: null },
  "process.exit": { code: 0, signal: null },
  "process.exit in a promise": { code: 0, signal: null },
  "process.exit in an exit handler": { code: 0, signal: null },
  "process.exit during close": { code: 0, signal: null },
  "process.reallyExit": { code: 0, signal: null },
  "uncaught exception": { code: 1, signal: null },
  "unhandled rejection": { code: 1, signal: null },
  "signal handler that exits": { code: 0, signal: null },
  "signal without handler": { code: null, signal: "SIGTERM" },
  "worker holds the store": { code: 0, signal: null },
  "worker exits by process.exit": { code: 0, signal: null },
};

describe("process exit with open handles and work in flight", () => {
  for (const [route, expected] of Object.entries(ROUTES)) {
    it(`ends by route: ${route}`, { timeout: 120_000 }, async () => {
      const path = await temporaryDirectory();
      const child = await runChild("exit-by-route.mjs", [path, route]);
      expect({ code: child.code, signal: child.signal, stderr: child.stderr }).toMatchObject(
        expected,
      );
      expect(child.lines).toEqual(["ready"]);
      await using store = await openStore({ path });
      expect((await store.get("acknowledged"))?.length).toBe(256);
    });
  }
});
