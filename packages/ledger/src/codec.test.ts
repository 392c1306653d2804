// Goal: what was written is read back, damage is refused by name, newer members survive.

import type { EffectRecord, UndoAction } from "@agenttx/model";
import { isAgentTxError } from "@agenttx/model";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeEffect, decodeUndo, encodeEffect, encodeUndo } from "./codec.js";
import { newEffect } from "./new-effect.js";

const EFFECT: EffectRecord = newEffect(
  {
    transaction: "t",
    namespace: "",
    seq: 1,
    step: 1,
    attempt: 1,
    tool: "carrier.book",
    toolVersion: "1",
    effectClass: "reversible",
    idempotencyKey: "k",
    requestDigest: "d",
    request: { order: 7 },
    secretPaths: [],
    dependsOn: ["t/9"],
    compensation: "auto",
    owner: "logistics",
    forwardRecovery: null,
  },
  "requested",
  1,
);
const UNDO: UndoAction = {
  seq: 1,
  effectId: "t/1",
  step: 1,
  tool: "carrier.book",
  toolVersion: "1",
  action: "compensate",
  args: { order: 7 },
  secretPaths: [],
};

function bytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return isAgentTxError(error) ? error.code : `${error}`;
  }
  return "none";
}

describe("effect and undo codecs", () => {
  it("read back what they wrote", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.string(), (json, text) => {
        const request = JSON.parse(JSON.stringify(json));
        const record = { ...EFFECT, request, receipt: request, problem: text };
        expect(decodeEffect(encodeEffect(record))).toEqual(record);
        const action = { ...UNDO, args: request };
        expect(decodeUndo(encodeUndo(action))).toEqual(action);
      }),
    );
  });

  it("keep members that a newer version added", () => {
    const read = decodeEffect(bytes({ ...EFFECT, v: 1, colour: "red" }));
    expect(JSON.parse(new TextDecoder().decode(encodeEffect(read)))).toMatchObject({
      colour: "red",
    });
  });

  it("refuse a record with any one member missing or of another type", () => {
    for (const name of Object.keys(EFFECT)) {
      const { [name as keyof EffectRecord]: _, ...rest } = EFFECT;
      expect(codeOf(() => decodeEffect(bytes({ ...rest, v: 1 })))).toBe("STORE_CORRUPT");
      if (name === "request" || name === "receipt") continue;
      const wrong = { ...EFFECT, v: 1, [name]: { odd: true } };
      expect(codeOf(() => decodeEffect(bytes(wrong)))).toBe("STORE_CORRUPT");
    }
    for (const name of Object.keys(UNDO)) {
      const { [name as keyof UndoAction]: _, ...rest } = UNDO;
      expect(codeOf(() => decodeUndo(bytes({ ...rest, v: 1 })))).toBe("STORE_CORRUPT");
    }
  });

  it("refuse arbitrary bytes by code and never by another error", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (damaged) => {
        expect(codeOf(() => decodeEffect(damaged))).toBe("STORE_CORRUPT");
      }),
    );
  });

  it("refuse a newer format and say so", () => {
    expect(codeOf(() => decodeEffect(bytes({ ...EFFECT, v: 2 })))).toBe("FORMAT_TOO_NEW");
  });

  it("say nothing of the content in the error", () => {
    const damaged = bytes({ ...EFFECT, v: 1, request: { card: "4111-1111" }, state: "s3cret" });
    expect(() => decodeEffect(damaged)).toThrow(/"state"/);
    expect(() => decodeEffect(damaged)).not.toThrow(/s3cret|4111/);
  });

  it("refuse to write what would not come back", () => {
    const deep = JSON.parse(`${"[".repeat(80)}${"]".repeat(80)}`);
    for (const receipt of [1n, Number.NaN, () => 1, new Date(), deep]) {
      const record = { ...EFFECT, receipt } as unknown as EffectRecord;
      expect(codeOf(() => encodeEffect(record))).toBe("INVALID_ARGUMENT");
    }
  });

  it("refuse an id that is no effect id, in both kinds of record, and name the kind", () => {
    const effect = bytes({ ...EFFECT, v: 1, effectId: "t/0" });
    expect(() => decodeEffect(effect)).toThrow(
      "A stored effect record cannot be read: its effect id is malformed.",
    );
    const undo = bytes({ ...UNDO, v: 1, effectId: "t" });
    expect(() => decodeUndo(undo)).toThrow(
      "A stored undo action cannot be read: its effect id is malformed.",
    );
    expect([codeOf(() => decodeEffect(effect)), codeOf(() => decodeUndo(undo))]).toEqual([
      "STORE_CORRUPT",
      "STORE_CORRUPT",
    ]);
    expect(() => decodeEffect(bytes([]))).toThrow("A stored effect record");
    expect(() => decodeUndo(bytes([]))).toThrow("A stored undo action");
    expect(() => decodeEffect(bytes({ v: 1 }))).toThrow("A stored effect record");
    expect(() => decodeUndo(bytes({ v: 1 }))).toThrow("A stored undo action");
  });

  it("read a resolution whole, and refuse one with any one member wrong", () => {
    const resolution = { kind: "retry", actor: "ann", note: "", atMs: 5 };
    const read = (value: unknown) => decodeEffect(bytes({ ...EFFECT, v: 1, resolution: value }));
    expect(read(resolution).resolution).toEqual(resolution);
    for (const name of Object.keys(resolution)) {
      const { [name as keyof typeof resolution]: _, ...rest } = resolution;
      expect(codeOf(() => read(rest))).toBe("STORE_CORRUPT");
      expect(codeOf(() => read({ ...resolution, [name]: [] }))).toBe("STORE_CORRUPT");
    }
    for (const value of ["retry", 7, true, []])
      expect(codeOf(() => read(value))).toBe("STORE_CORRUPT");
  });

  it("refuse numbers that count nothing", () => {
    for (const step of [-1, 1.5, 2 ** 53, "1", null]) {
      expect(codeOf(() => decodeEffect(bytes({ ...EFFECT, v: 1, step })))).toBe("STORE_CORRUPT");
    }
  });

  it("keep a member named __proto__ as data", () => {
    const request = JSON.parse('{"__proto__":{"admin":true}}');
    const read = decodeEffect(encodeEffect({ ...EFFECT, request }));
    expect(Object.hasOwn(read.request as object, "__proto__")).toBe(true);
    expect((read as { admin?: boolean }).admin).toBeUndefined();
  });
});
