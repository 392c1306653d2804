// Goal: the exit codes that scripts rely on.

import { AgentTxError, ERROR_CODES, type ErrorCode } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import { EXIT, exitCodeOf } from "./exit-codes.js";

describe("exitCodeOf", () => {
  it("never calls an error a success", () => {
    for (const code of Object.keys(ERROR_CODES)) {
      expect(exitCodeOf(new AgentTxError(code as ErrorCode, "x"))).toBeGreaterThan(0);
    }
  });

  it.each([
    ["INVALID_ARGUMENT", EXIT.USAGE],
    ["NOT_FOUND", EXIT.NOT_FOUND],
    ["WRITE_CONFLICT", EXIT.CONFLICT],
    ["STORE_LOCKED", EXIT.UNAVAILABLE],
    ["TRANSACTION_FROZEN", EXIT.UNRESOLVED],
  ] as const)("maps %s to %i", (code, expected) => {
    expect(exitCodeOf(new AgentTxError(code, "x"))).toBe(expected);
  });

  it("calls anything else a failure", () => {
    expect(exitCodeOf(new Error("x"))).toBe(EXIT.FAILED);
    expect(exitCodeOf(undefined)).toBe(EXIT.FAILED);
  });
});
