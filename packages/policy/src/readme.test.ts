// Goal: the README's example runs and prints what it says. Method: take both from the file; the
// example imports the built package by its name, as a user does (so a build comes first).
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = new URL("../", import.meta.url);

function block(text: string, language: string): string {
  const found = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(text)?.[1];
  if (found === undefined) throw new Error(`README.md has no ${language} block`);
  return found;
}

it("the README's example prints what the README says", () => {
  const text = readFileSync(new URL("README.md", ROOT), "utf8");
  const printed = execFileSync(
    process.execPath,
    ["--input-type=module", "--eval", block(text, "js")],
    { cwd: fileURLToPath(ROOT), encoding: "utf8" },
  );
  expect(printed).toBe(block(text, "text"));
});

it("the built package has one file of code and one of types, without an import", () => {
  for (const file of ["dist/index.js", "dist/index.d.ts"]) {
    const text = readFileSync(new URL(file, ROOT), "utf8");
    expect(text).not.toMatch(/^\s*import\b|\bfrom\s+["']|\bimport\(|@agenttx\/model/m);
  }
});
