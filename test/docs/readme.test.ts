// Goal: what the documents say is true. Method: every JavaScript example of a README that is
// followed by its output is run and compared; every link leads somewhere.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { codeBlocks, localLinks, markdownFiles, ROOT } from "./markdown.js";

const directory = mkdtempSync(join(tmpdir(), "agenttx-readme-"));
linkPackages(join(directory, "node_modules"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Every package under its name, as an installed one, and what examples use beside them. */
function linkPackages(modules: string): void {
  mkdirSync(join(modules, "@agenttx"), { recursive: true });
  for (const entry of readdirSync(join(ROOT, "packages"))) {
    const folder = join(ROOT, "packages", entry);
    if (!existsSync(join(folder, "package.json"))) continue;
    const { name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    symlinkSync(folder, join(modules, name));
  }
  for (const name of ["zod", "better-sqlite3"]) {
    symlinkSync(join(ROOT, "test", "node_modules", name), join(modules, name));
  }
}

const files = markdownFiles();

describe.each(files)("%s", (file) => {
  const blocks = codeBlocks(file);
  const examples = blocks.flatMap((block, index) => {
    const output = blocks[index + 1];
    const runs = block.language === "js" && output?.language === "text" && output.follows;
    return runs ? [{ name: `example ${index + 1}`, code: block.code, output: output.code }] : [];
  });

  it.each(examples)("shows the real output of $name", ({ name, code, output }) => {
    const program = join(directory, `${name.replace(" ", "-")}.mjs`);
    writeFileSync(program, code);
    const printed = execFileSync(process.execPath, [program], { cwd: directory, encoding: "utf8" });
    expect(printed.trim()).toBe(output.trim());
  });

  it("has no link that leads nowhere", () => {
    const broken = localLinks(file).filter((link) => !existsSync(join(ROOT, dirname(file), link)));
    expect(broken).toEqual([]);
  });
});
