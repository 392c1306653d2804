// Goal: the example in the client's README runs and prints what it shows.

import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { startTestServer } from "../server/test-server.js";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

it("the example of packages/client/README.md runs as it stands", async () => {
  const page = readFileSync(here("../../packages/client/README.md"), "utf8");
  const [, example = ""] = /^```js example\.mjs\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const [, shown = ""] = /^```text\n([\s\S]*?)^```$/m.exec(page) ?? [];
  // Beside this test, so that the package resolves as in a project that has installed it.
  const file = here(`./client-readme-${process.pid}.mjs`);
  const at = await startTestServer();
  writeFileSync(file, example);
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [file, at.address]);
    expect(stdout).toBe(shown);
  } finally {
    rmSync(file, { force: true });
    await at.remove();
  }
});
