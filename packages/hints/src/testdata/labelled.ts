// Owns the labelled errors: their shape, how they are read, and the forms in which they are tried.
import { readFileSync } from "node:fs";

/** One real error text with what a reader of it would say. */
export interface Labelled {
  readonly id: string;
  readonly raw: unknown;
  readonly retryable: boolean;
  readonly expect: {
    readonly category: string;
    readonly category_also?: readonly string[];
    readonly key: string | null;
    readonly keys: readonly string[];
    readonly must_not_contain: readonly string[];
    readonly null_ok?: boolean;
  };
}

/** The sets and how many lines they hold. */
export const SETS: readonly (readonly [name: string, size: number])[] = [
  ["handed", 227],
  ["own", 269],
  ["own-second", 253],
];

export function load(name: string): Labelled[] {
  const text = readFileSync(new URL(`${name}.jsonl`, import.meta.url), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Labelled);
}

/** As a tool throws it: words under a class of its own; what was no text becomes the cause. */
function thrown(raw: unknown): unknown {
  if (typeof raw !== "string") return new Error("The call failed", { cause: raw });
  return Object.assign(new Error(raw), { name: "ToolError", attempts: 3 });
}

/** In the middle of other lines, as a tool prints what its subprocess said. */
function logged(raw: unknown): unknown {
  if (typeof raw !== "string") return { ok: false, data: { error: raw }, elapsedMs: 12 };
  const before = "2026-03-01T10:00:00Z starting step 3 of 9";
  const frames = "\tat run (/app/tools/call.js:41:9)\n    at next (node:internal/process:95:5)";
  return `${before}\n${raw}\n${frames}\nexit status 1`;
}

export const FORMS: readonly (readonly [title: string, form: (raw: unknown) => unknown])[] = [
  ["plain", (raw) => raw],
  ["thrown", thrown],
  ["logged", logged],
];
