// Goal: a full disk is an error with a code; nothing acknowledged is lost, the process lives, and
// the store works again in place once there is room (S10). In a small tmpfs of an own namespace.

import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { childScript, startChild } from "./child-process.js";
import { temporaryDirectory } from "./temporary-directory.js";

const mountable =
  process.platform === "linux" && spawnSync("unshare", ["-Urm", "true"]).status === 0;

describe("a full disk", () => {
  // Where user namespaces are not allowed there is no disk that a test may fill.
  it.skipIf(!mountable)(
    "refuses with a code, keeps what was acknowledged and heals by reopen",
    { timeout: 120_000 },
    async () => {
      const directory = await temporaryDirectory();
      const command = 'mount -t tmpfs -o size=24m tmpfs "$1" && exec "$2" "$3" "$1"';
      const end = await startChild("unshare", [
        "-Urm",
        "sh",
        "-ec",
        command,
        "sh",
        directory,
        process.execPath,
        childScript("fill-disk.mjs"),
      ]).ended;
      expect({ code: end.code, signal: end.signal, stderr: end.stderr }).toEqual({
        code: 0,
        signal: null,
        stderr: "",
      });
      const seen = JSON.parse(end.lines[0] ?? "null");
      expect(seen.codes.length).toBeGreaterThan(0);
      for (const code of seen.codes) {
        expect(["RESOURCE_EXHAUSTED", "STORE_POISONED", "OUTCOME_UNKNOWN"]).toContain(code);
      }
      expect(seen).toMatchObject({ readable: 48 * 1024, missing: 0, healed: null });
      expect(seen.acknowledged).toBeGreaterThanOrEqual(11);
    },
  );
});
