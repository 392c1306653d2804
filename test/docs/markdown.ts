// Owns the reading of code blocks and links out of Markdown, for the tests of the documents.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const SKIPPED = new Set(["node_modules", "dist", "build", ".git", "results", ".turbo"]);

/** Every Markdown file of the repository, relative to its root. */
export function markdownFiles(directory = ROOT): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : markdownFiles(path);
    return entry.name.endsWith(".md") ? [relative(ROOT, path)] : [];
  });
}

export interface CodeBlock {
  readonly language: string;
  readonly code: string;
  /** True when nothing but blank lines stands between this block and the one before. */
  readonly follows: boolean;
}

export function codeBlocks(file: string): CodeBlock[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  let end = 0;
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const follows = text.slice(end, match.index).trim() === "";
    end = match.index + match[0].length;
    return { language: match[1] ?? "", code: match[2] ?? "", follows };
  });
}

/** Relative links, without fragment. */
export function localLinks(file: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8").replace(/^```[\s\S]*?^```$/gm, "");
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => (target ?? "").split("#")[0] ?? "")
    .filter((target) => target !== "" && !/^[a-z]+:/.test(target));
}
