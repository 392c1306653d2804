// Goal: a process in which nothing else goes on does not end in the middle of an operation that
// somebody awaits, and ends by itself when nobody does.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const SCRIPT = fileURLToPath(new URL("./children/wait-in-the-middle.mjs", import.meta.url));

it.each(["a deadline", "a lookup", "a retry", "an undo", "a delivery", "a conflict", "a close"])(
  "lives through the wait for %s, and then ends",
  (way) => {
    const options = { encoding: "utf8", timeout: 20_000 } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, way], options);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "done\n", stderr: "" });
  },
);
