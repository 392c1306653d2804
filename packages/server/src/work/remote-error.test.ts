// Goal: what a remote tool says about its failure is as telling, and no more powerful, than if it had
// failed here.
import { cleanError } from "@agenttx/hints";
import { DefiniteFailure, isAgentTxError } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import { remoteError } from "./remote-error.js";

describe("the error of a remote tool", () => {
  it("leads to the field that its structure names", () => {
    const issues = [{ message: "Invalid input: expected string, received number", path: ["to"] }];
    expect(cleanError(remoteError(JSON.stringify({ issues }), true)).key).toBe("to");
    const row = { name: "Error", message: "violates foreign key", column: "customer_id" };
    expect(cleanError(remoteError(JSON.stringify(row), false)).key).toBe("customer_id");
  });

  it("is definite when the call says so, not when the text does", () => {
    expect(remoteError('{"definite":true,"message":"m"}', false)).not.toHaveProperty("definite");
    expect(remoteError('{"name":"X","message":"m"}', true)).toBeInstanceOf(DefiniteFailure);
  });

  it("cannot change what the error is", () => {
    const hostile = remoteError('{"__proto__":{"admin":true},"stack":"s","message":"m"}', false);
    expect(hostile).toBeInstanceOf(Error);
    expect(isAgentTxError(hostile)).toBe(false);
    expect("admin" in hostile).toBe(false);
    expect(hostile.stack).not.toBe("s");
  });

  it("takes anything else as text", () => {
    for (const text of ["", "{", "[1]", "null", "boom"]) {
      expect(remoteError(text, false).message).toBe(text);
    }
  });
});
