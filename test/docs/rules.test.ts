// Goal: no rule of docs/rules.md is only written down: code cites it, and a test claims it.
// Method: the page's numbers are looked up in the sources; a range such as R1-R9 cites its ends.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SKIPPED = new Set(["node_modules", "dist", "gen", "build"]);
const SOURCE = /\.(ts|mjs|cc|h)$/;
// The conformance suite is a test that is shipped.
const TEST = /\.test\.ts$|_test\.cc$|\/conformance|^test\//;

const rules = [
  ...readFileSync(join(ROOT, "docs/rules.md"), "utf8").matchAll(/\*\*([A-Z]\d+[a-z]?)\*\*/g),
].map(([, rule = ""]) => rule);

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : sources(path);
    return SOURCE.test(entry.name) && !path.endsWith("test/docs/rules.test.ts") ? [path] : [];
  });
}

function citedIn(paths: readonly string[]): Set<string> {
  const cited = new Set<string>();
  for (const path of paths) {
    const text = readFileSync(join(ROOT, path), "utf8");
    for (const [rule] of text.matchAll(/\b[RGSECPH]\d{1,2}[a-z]?\b/g)) cited.add(rule);
  }
  return cited;
}

const all = ["packages", "native/src", "native/test", "test"].flatMap(sources);

it("finds the rules", () => {
  expect(rules.length).toBeGreaterThan(60);
  expect(new Set(rules).size).toBe(rules.length);
});

it("has code for every rule", () => {
  const cited = citedIn(all.filter((path) => !TEST.test(path)));
  expect(rules.filter((rule) => !cited.has(rule))).toEqual([]);
});

it("has a test for every rule", () => {
  const cited = citedIn(all.filter((path) => TEST.test(path)));
  expect(rules.filter((rule) => !cited.has(rule))).toEqual([]);
});
