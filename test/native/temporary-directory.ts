// Owns directories that live as long as one test.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** An empty directory, removed when the running test has finished. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "agenttx-native-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
