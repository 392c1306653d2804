// Goal: no change of a rule or reader goes unseen. Method: every hint of the three labelled sets, in
// full, against the recorded ones; as it was handed, thrown as an Error, inside of a longer log.
// A difference is read, and recorded with `npx vitest run packages/hints -u` when it is wanted.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cleanError } from "./clean-error.js";
import { logged, thrown } from "./testdata/forms.js";

interface Line {
  readonly id: string;
  readonly raw: unknown;
}

const SETS = ["handed", "own", "own-second"];

function load(name: string): Line[] {
  const text = readFileSync(new URL(`testdata/${name}.jsonl`, import.meta.url), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

function record(lines: readonly Line[], form: (raw: unknown) => unknown): string {
  return lines
    .map(({ id, raw }) => {
      const { text, category, key, keys, rule, retryable, retryAfterMs, detail } = cleanError(
        form(raw),
      );
      const facts = [category, key, keys.join(" "), rule, retryable, retryAfterMs];
      return `${id}\n  ${text}\n  ${facts.join(" | ")}\n  ${JSON.stringify(detail)}\n`;
    })
    .join("");
}

describe.each(SETS)("the hints of %s", (name) => {
  const lines = load(name);
  const file = (form: string) => `testdata/golden/${name}-${form}.txt`;

  it("as handed", () => expect(record(lines, (raw) => raw)).toMatchFileSnapshot(file("plain")));
  it("thrown", () => expect(record(lines, thrown)).toMatchFileSnapshot(file("thrown")));
  it("logged", () => expect(record(lines, logged)).toMatchFileSnapshot(file("logged")));
});
