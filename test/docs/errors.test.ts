// Goal: docs/errors.md and the list of error codes name the same codes with the same retry rule.
// Method: both are read, compared in both directions.
import { readFileSync } from "node:fs";
import { ERROR_CODES } from "@agenttx/model";
import { describe, expect, it } from "vitest";

const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
const rows = new Map(
  [...page.matchAll(/^\|\s*`([A-Z_]+)`\s*\|\s*(yes|no)\s*\|/gm)].map((row) => [
    row[1],
    row[2] === "yes",
  ]),
);

describe("docs/errors.md", () => {
  it("has a row for every code and no row for a code that does not exist", () => {
    expect([...rows.keys()].sort()).toEqual(Object.keys(ERROR_CODES).sort());
  });

  it("says of every code whether a retry may work", () => {
    const listed = Object.fromEntries(
      Object.entries(ERROR_CODES).map(([code, { retryable }]) => [code, retryable]),
    );
    expect(Object.fromEntries(rows)).toEqual(listed);
  });
});
