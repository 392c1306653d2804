// Goal: what stands in an Error's message is read as well as if it had been handed alone, and a name
// in a dotted path is never cut. Method: bodies under classes of a tool's own, and sentences in text.

import { describe, expect, it } from "vitest";
import { cleanError } from "./clean-error.js";

class ToolError extends Error {
  override name = "ToolError";
}

describe("an error that a tool throws under its own class", () => {
  it.each([
    ['{"error":{"code":"resource_missing","param":"customer"}}', "not_found", "customer"],
    ['{"errors":[{"path":["qty"],"message":"must be positive"}]}', "invalid_value", "qty"],
    ['HTTP/1.1 429 Too Many Requests\nRetry-After: 7\n\n{"message":"slow down"}', "rate_limited"],
    ["KeyError: 'customer_id'", "missing_field", "customer_id"],
  ] as const)("keeps what its message %j says", (message, category, key: string | null = null) => {
    expect(cleanError(new ToolError(message))).toMatchObject({ category, key });
    expect(cleanError(message)).toMatchObject({ category, key });
  });

  it("is named by its own class when the message says nothing", () =>
    expect(cleanError(new ToolError("went wrong")).text).toContain("ToolError"));
});

describe("a dotted or indexed name at the head of a sentence", () => {
  it.each([
    ["lines.0.qty must be a positive number", "lines.0.qty"],
    ["Bad request: lines.0.qty must be a positive number", "lines.0.qty"],
    ['["lines.0.qty must be a positive number"]', "lines.0.qty"],
    ["{'message': 'messages.0.content.0.text: Field required'}", "messages.0.content.0.text"],
    ["items[0].qty must be a positive number", "items[0].qty"],
    ['ValueError: "customer_id is required" was said by the user', null],
    // Quoted in the middle of a sentence: not named rather than cut.
    ["saw 'lines.0.qty must be a positive number", null],
    ['saw "items[0].qty must be a positive number', null],
  ])("%j", (text, key) => expect(cleanError(text).key).toBe(key));
});
