// Goal: nothing is lost or invented between model and messages, and no message can leak into the
// next. Method: fast-check makes model values; each is sent through real bytes and compared.
import type { EffectRecord, StepOutcome, TransactionView } from "@agenttx/model";
import { AgentTxError, ERROR_CODES } from "@agenttx/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Effect } from "./gen/agenttx/v1/effects.js";
import { ExecuteStepRequest, ExecuteStepResponse } from "./gen/agenttx/v1/steps.js";
import {
  CommitTransactionResponse,
  GetTransactionResponse,
  RollbackTransactionResponse,
} from "./gen/agenttx/v1/transactions.js";
import {
  commitFromWire,
  commitToWire,
  effectFromWire,
  effectToWire,
  encodeMessage,
  errorFromWire,
  errorInfoOf,
  errorMetadata,
  errorToWire,
  type MessageCodec,
  outcomeFromWire,
  outcomeToWire,
  rollbackFromWire,
  rollbackToWire,
  viewFromWire,
  viewToWire,
} from "./index.js";

function throughBytes<T>(codec: MessageCodec<T>, message: T): T {
  return codec.decode(encodeMessage(codec, message));
}

const text = fc.string({ unit: "grapheme", maxLength: 24 });
const word = fc.stringMatching(/^[a-z][a-z_]{0,12}$/);
const nullable = (arbitrary: fc.Arbitrary<string>) => fc.option(arbitrary, { nil: null });
const step = fc.integer({ min: 1, max: 10_000 });
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)));
const count = fc.nat(2 ** 31 - 1);

const constraint = fc.record({ category: word, key: nullable(word), rule: word, text: word });
const compensationError = fc.record({ effectId: word, step, tool: word, message: text });
const hint = fc.record({
  text: word.map((rest) => `Hint: ${rest}`),
  category: fc.constantFrom("timeout" as const, "unique_violation" as const),
  key: nullable(word),
  keys: fc.array(word, { maxLength: 3 }),
  rule: word,
  retryable: fc.boolean(),
  retryAfterMs: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }), { nil: null }),
  detail: nullable(word),
});
const strategy = fc.constantFrom(
  "DEPENDENCY_JUMP" as const,
  "LOCAL_BACKTRACK" as const,
  "GLOBAL_RESET" as const,
);
const reason = fc.record({
  rule: fc.constantFrom("R2" as const, "R3" as const, "R6" as const),
  key: nullable(word),
  producer: fc.option(step, { nil: null }),
  path: fc.array(
    fc.record({ from: step, outputPath: word, to: step, inputPath: word, explicit: fc.boolean() }),
    { maxLength: 3 },
  ),
  failureNumber: step,
  replayCost: count,
  budget: fc.double({ noNaN: true, min: 0 }),
  budgetLeft: fc.double({ noNaN: true, min: 0 }),
  considered: fc.array(
    fc.record({ strategy, target: step, replayCost: count, refused: nullable(word) }),
    { maxLength: 4 },
  ),
});

const succeeded = fc.record({
  status: fc.constant("SUCCESS" as const),
  step,
  output: json,
  nextStep: step,
  constraints: fc.array(constraint, { maxLength: 3 }),
  repeated: fc.boolean(),
});
const undone = {
  step,
  constraints: fc.array(constraint, { maxLength: 3 }),
  repeated: fc.boolean(),
  compensationsRun: count,
  compensationErrors: fc.array(compensationError, { maxLength: 2 }),
  rollbackLatencyMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
};
const rolledBack = fc
  .record({ ...undone, hint, strategy, reason, target: count, next: step, reset: fc.boolean() })
  .map(({ strategy: chosen, reason: why, target, next, reset, ...rest }): StepOutcome => {
    const shared = { rollbackToStep: target, nextStep: next, contextReset: reset };
    return {
      ...rest,
      ...shared,
      status: "ROLLBACK_TRIGGERED",
      strategy: chosen,
      writesReverted: 7,
      decision: { ...shared, strategy: chosen, replayCost: why.replayCost, reason: why },
    };
  });
const failed = fc
  .record({ ...undone, hint: fc.option(hint, { nil: null }), reason, frozen: fc.boolean() })
  .map(({ reason: why, frozen, ...rest }): StepOutcome => {
    const shared = { rollbackToStep: 0, nextStep: 0 as const, contextReset: false };
    return {
      ...rest,
      status: "FAILED",
      strategy: frozen ? null : "ABORT",
      nextStep: 0,
      abortReason: frozen ? "RECONCILIATION_REQUIRED" : "budget",
      transactionStatus: frozen ? "FROZEN" : "FAILED",
      unresolvedEffects: frozen ? ["t/1"] : [],
      decision: frozen
        ? null
        : { ...shared, strategy: "ABORT", replayCost: why.replayCost, reason: why },
    };
  });

describe("outcome codec", () => {
  it("gives a client of ours back what the engine answered", () => {
    fc.assert(
      fc.property(fc.oneof(succeeded, rolledBack, failed), (outcome) => {
        const message = throughBytes(ExecuteStepResponse, outcomeToWire(outcome));
        expect(outcomeFromWire(message)).toEqual(outcome);
      }),
    );
  });

  it("refuses an answer without a status instead of guessing one", () => {
    const empty = ExecuteStepResponse.decode(new Uint8Array());
    expect(() => outcomeFromWire(empty)).toThrow(TypeError);
  });
});

describe("transaction codec", () => {
  it("keeps commits, with versions over 2^53", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), count, count, (version, a, b) => {
        const outcome = {
          status: "COMMITTED" as const,
          commitVersion: version,
          stepsCommitted: a,
          effectsDispatched: b,
          effectsPending: a,
          dispatchErrors: ["sink down"],
        };
        const message = throughBytes(CommitTransactionResponse, commitToWire(outcome));
        expect(commitFromWire(message)).toEqual(outcome);
      }),
    );
  });

  it("keeps rollbacks", () => {
    const errors = fc.array(compensationError, { maxLength: 3 });
    fc.assert(
      fc.property(errors, fc.boolean(), (compensationErrors, rolled) => {
        const outcome = {
          rolledBack: rolled,
          status: rolled ? ("ROLLED_BACK" as const) : ("FROZEN" as const),
          nextStep: 0,
          writesReverted: 3,
          compensationsRun: 2,
          compensationErrors,
          unresolvedEffects: rolled ? [] : ["t/2"],
        };
        const message = throughBytes(RollbackTransactionResponse, rollbackToWire(outcome));
        expect(rollbackFromWire(message)).toEqual(outcome);
      }),
    );
  });

  it("keeps views", () => {
    const view = fc.record<TransactionView>({
      id: word,
      agentId: text,
      metadata: fc.dictionary(word, text, { maxKeys: 4, noNullPrototype: true }),
      status: fc.constantFrom("ACTIVE", "FROZEN", "COMMITTED", "FAILED"),
      nextStep: count,
      stepsCommitted: count,
      globalResets: count,
      constraints: fc.array(constraint, { maxLength: 3 }),
      context: fc.array(fc.record({ step, tool: word, rawContext: text }), { maxLength: 3 }),
      unresolvedEffects: fc.array(word, { maxLength: 2 }),
      abortReason: nullable(word),
      beganAtMs: fc.nat(Number.MAX_SAFE_INTEGER),
      updatedAtMs: fc.nat(Number.MAX_SAFE_INTEGER),
    });
    fc.assert(
      fc.property(view, (value) => {
        const page = { truncated: false, nextPageToken: "" };
        const message = throughBytes(GetTransactionResponse, viewToWire(value, page));
        expect(viewFromWire(message)).toEqual(value);
      }),
    );
  });
});

describe("effect codec", () => {
  it("keeps records", () => {
    const record = fc.record<EffectRecord>({
      effectId: word,
      transaction: word,
      namespace: fc.constant(""),
      secretPaths: fc.array(word, { maxLength: 2 }),
      step,
      attempt: fc.nat(Number.MAX_SAFE_INTEGER),
      tool: word,
      toolVersion: word,
      effectClass: fc.constantFrom("reversible", "irreversible"),
      state: fc.constantFrom("requested", "confirmed", "unresolved", "compensated"),
      idempotencyKey: word,
      requestDigest: word,
      request: json,
      receipt: json,
      dependsOn: fc.array(word, { maxLength: 2 }),
      compensation: fc.constantFrom("auto", "ask"),
      owner: nullable(word),
      undoUntilMs: fc.option(fc.integer({ min: 1, max: 2 ** 50 }), { nil: null }),
      forwardRecovery: nullable(word),
      outcomeKnown: fc.boolean(),
      undoAttempts: count,
      undone: fc.array(count, { maxLength: 3 }),
      problem: nullable(word),
      waitsFor: fc.constantFrom("retry", "person", "tool", null),
      resolution: fc.option(
        fc.record({ kind: fc.constant("happened" as const), actor: word, note: text, atMs: count }),
        { nil: null },
      ),
      createdAtMs: count,
      updatedAtMs: count,
    });
    fc.assert(
      fc.property(record, (value) => {
        expect(effectFromWire(throughBytes(Effect, effectToWire(value)))).toEqual(value);
      }),
    );
  });
});

describe("error codec", () => {
  it("carries every code in the trailers", () => {
    for (const code of Object.keys(ERROR_CODES) as (keyof typeof ERROR_CODES)[]) {
      const error = new AgentTxError(code, "what happened", { details: { expected: 3 } });
      const info = errorInfoOf(errorMetadata(errorToWire(error)));
      expect(info).toEqual({ reason: code, details: { expected: "3" } });
      const back = errorFromWire({ reason: code, message: error.message, details: {} });
      expect([back.code, back.message, back.retryable]).toEqual([
        code,
        error.message,
        error.retryable,
      ]);
    }
  });

  it("reads hostile trailers as no information", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const metadata = errorMetadata(errorToWire(new AgentTxError("INTERNAL", "x")));
        metadata.set("grpc-status-details-bin", Buffer.from(bytes));
        const info = errorInfoOf(metadata);
        expect(info === null || typeof info.reason === "string").toBe(true);
      }),
    );
  });

  it("calls the code of a newer server INTERNAL and keeps its name", () => {
    const error = errorFromWire({ reason: "BRAND_NEW", message: "m", details: {} });
    expect([error.code, error.details.reason]).toEqual(["INTERNAL", "BRAND_NEW"]);
  });
});

describe("message writer", () => {
  const request = ExecuteStepRequest.fromPartial({ transactionId: "t", stepId: 1, toolName: "a" });

  it("is not corrupted by a message that could not be encoded", () => {
    const good = Buffer.from(encodeMessage(ExecuteStepRequest, request));
    const bad = { ...request, stepId: "no number" } as unknown as ExecuteStepRequest;
    expect(() => encodeMessage(ExecuteStepRequest, bad)).toThrow();
    expect(encodeMessage(ExecuteStepRequest, request).equals(good)).toBe(true);
  });

  it("gives bytes that the next message does not overwrite", () => {
    const first = encodeMessage(ExecuteStepRequest, request);
    const copy = Buffer.from(first);
    encodeMessage(ExecuteStepRequest, { ...request, transactionId: "another one, and longer" });
    expect(first.equals(copy)).toBe(true);
  });
});
