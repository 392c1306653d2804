// Goal: the rules hold on real errors. Method: three labelled sets (a handed one, two of our own)
// are graded like a user would: the key exactly, the category among the accepted ones. Each is tried
// as handed, thrown as an Error and between other lines.

import { describe, expect, it } from "vitest";
import { cleanError } from "./clean-error.js";
import { FORMS, type Labelled, load, SETS } from "./testdata/labelled.js";

function grade(lines: readonly Labelled[], form: (raw: unknown) => unknown) {
  const wrong = {
    category: 0,
    key: 0,
    retryable: 0,
    misnamed: [] as string[],
    leaked: [] as string[],
  };
  for (const { id, raw, retryable, expect: label } of lines) {
    const hint = cleanError(form(raw));
    const categories = [label.category, ...(label.category_also ?? [])];
    if (!categories.includes(hint.category)) wrong.category++;
    const names = [...label.keys, ...(label.key === null ? [] : [label.key])];
    if (hint.key !== null && !names.includes(hint.key)) wrong.misnamed.push(id);
    else if (hint.key === null && label.key !== null && label.null_ok !== true) wrong.key++;
    if (hint.retryable !== retryable) wrong.retryable++;
    const shown = `${hint.text} ${hint.keys.join(" ")}`;
    if (label.must_not_contain.some((secret) => shown.includes(secret))) wrong.leaked.push(id);
  }
  return wrong;
}

const CASES = SETS.flatMap(([name, size]) =>
  FORMS.map(([title, form]) => ({ name, size, title, form })),
);

describe.each(CASES)("the corpus $name, $title", ({ name, size, form }) => {
  const lines = load(name);
  const wrong = grade(lines, form);

  it("is complete", () => expect(lines).toHaveLength(size));

  it("has no misnamed field (H2)", () => expect(wrong.misnamed).toEqual([]));

  it("leaks no value, secret or instruction into text and keys (H3)", () =>
    expect(wrong.leaked).toEqual([]));

  it("gets category, key and retryable right for 97 % and more (H5)", () => {
    const most = Math.floor(size * 0.03);
    expect(wrong.category).toBeLessThanOrEqual(most);
    expect(wrong.key).toBeLessThanOrEqual(most);
    expect(wrong.retryable).toBeLessThanOrEqual(most);
  });

  it("redacts what it keeps in detail (H6)", () => {
    const kept = lines.filter(({ raw, expect: label }) => {
      const detail = cleanError(form(raw)).detail ?? "";
      return label.must_not_contain.some(
        (text) => /\d{4}|@|SECRET/.test(text) && detail.includes(text),
      );
    });
    expect(kept.map((line) => line.id)).toEqual([]);
  });
});
