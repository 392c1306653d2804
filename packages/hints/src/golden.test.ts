// Goal: no change of a rule or reader goes unseen. Method: every hint of the three labelled sets, in
// full, against the recorded ones; as it was handed, thrown as an Error, inside of a longer log.
// A difference is read, and recorded with `npx vitest run packages/hints -u` when it is wanted.

import { describe, expect, it } from "vitest";
import { cleanError } from "./clean-error.js";
import { FORMS, type Labelled, load, SETS } from "./testdata/labelled.js";

function record(lines: readonly Labelled[], form: (raw: unknown) => unknown): string {
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

  it.each(FORMS)("%s", (title, form) =>
    expect(record(lines, form)).toMatchFileSnapshot(`testdata/golden/${name}-${title}.txt`),
  );
});
