// Owns the form of a planted defect: a patch with two lines in front of it.
//   Defect: what is wrong in it, and the rule or bug report it comes from
//   Caught-by: vitest FILES | core TESTS | torture SUITE [SCRIPT [CURSOR]]
import { readFile } from "node:fs/promises";
import { basename } from "node:path";

export interface Defect {
  readonly name: string;
  readonly path: string;
  readonly what: string;
  readonly caughtBy: readonly string[];
  /** Relative to the root of the tree. */
  readonly files: readonly string[];
}

/** Throws when the file is no planted defect. */
export async function readDefect(path: string): Promise<Defect> {
  const text = await readFile(path, "utf8");
  const what = /^Defect: (.+)$/m.exec(text)?.[1];
  const caughtBy = /^Caught-by: (.+)$/m.exec(text)?.[1];
  const files = [...text.matchAll(/^\+\+\+ b\/(.+)$/gm)].map((found) => found[1] ?? "");
  if (what === undefined || caughtBy === undefined || files.length === 0) {
    throw new Error(`${path} has no Defect line, no Caught-by line or no change`);
  }
  return { name: basename(path, ".patch"), path, what, caughtBy: caughtBy.split(" "), files };
}
