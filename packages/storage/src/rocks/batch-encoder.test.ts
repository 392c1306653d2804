// Claims of the batch encoder: byte for byte what native/test/batch_vectors.txt says, and every
// limit refused before a native call could be made.

import { readFileSync } from "node:fs";
import { limits } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import type { CommitBatch, RecordSpace, RecordWrite, StepBatch } from "../contract.js";
import { BatchEncoder } from "./batch-encoder.js";
import { RECORD_SPACE } from "./batch-format.js";

interface BatchVector {
  readonly name: string;
  /** Words of each `op` line. */
  readonly ops: readonly (readonly string[])[];
  readonly hex: string;
}

const FILE = new URL("../../../../native/test/batch_vectors.txt", import.meta.url);

/** `-` is no bytes. */
function hexBytes(word: string | undefined): Uint8Array {
  return Uint8Array.from(Buffer.from(word === undefined || word === "-" ? "" : word, "hex"));
}

function readBatchVectors(): BatchVector[] {
  const vectors: { name: string; ops: string[][]; hex: string }[] = [];
  for (const line of readFileSync(FILE, "utf8").split("\n")) {
    const [kind, ...words] = line.trim().split(/\s+/);
    const current = vectors.at(-1);
    if (kind === "name") vectors.push({ name: words.join(" "), ops: [], hex: "" });
    else if (kind === "op") current?.ops.push(words);
    else if (kind === "hex" && current) current.hex += words.join("").replace("-", "");
  }
  return vectors;
}

const encoder = new BatchEncoder();

function encoded(batch: StepBatch): string {
  const { bytes, length } = encoder.step(batch);
  return Buffer.from(bytes.subarray(0, length)).toString("hex");
}

function spaceOf(number: string | undefined): RecordSpace {
  for (const [space, value] of Object.entries(RECORD_SPACE)) {
    if (String(value) === number) return space as RecordSpace;
  }
  throw new Error(`no space ${number}`);
}

function encodedCommit(batch: CommitBatch): string {
  const { bytes, length } = encoder.commit(batch);
  return Buffer.from(bytes.subarray(0, length)).toString("hex");
}

/** The batch that the ops of a vector describe. */
function batchOf(vector: BatchVector): StepBatch & CommitBatch {
  const list = <T>(kinds: readonly string[], make: (words: readonly string[], kind: string) => T) =>
    vector.ops
      .filter(([kind]) => kinds.includes(kind ?? ""))
      .map(([kind, ...words]) => make(words, kind ?? ""));
  const optional = (word: string | undefined): number | undefined =>
    word === "_" ? undefined : Number(word);
  const [fence] = list(["fence"], ([owner, attempt, step]) => ({
    owner: BigInt(owner ?? ""),
    attempt: Number(attempt),
    step: Number(step),
  }));
  const [next] = list(["next"], ([owner, attempt, step]) => ({
    ...(owner !== "_" && { owner: BigInt(owner ?? "") }),
    ...(optional(attempt) !== undefined && { attempt: Number(attempt) }),
    ...(optional(step) !== undefined && { step: Number(step) }),
  }));
  const [payload] = list(["payload"], ([hex]) => hexBytes(hex));
  const [evidence] = list(["evidence"], ([hex]) => hexBytes(hex));
  const [snapshot] = list(["snapshot"], ([step]) => Number(step));
  const stamped = list(["record-stamped"], ([space, step, seq, name, value]) => ({
    space: spaceOf(space),
    step: Number(step),
    seq: Number(seq),
    name: Buffer.from(hexBytes(name)).toString("utf8"),
    value: hexBytes(value),
  }));
  return {
    writes: list(["put", "delete"], ([key, value], kind) => ({
      key: hexBytes(key),
      value: kind === "delete" ? null : hexBytes(value),
    })),
    records: list(["record-put", "record-delete"], (words, kind): RecordWrite => {
      const [space, step, seq, name, value] = words;
      return {
        space: spaceOf(space),
        step: Number(step),
        seq: Number(seq),
        name: Buffer.from(hexBytes(name)).toString("utf8"),
        value: kind === "record-delete" ? null : hexBytes(value),
      };
    }),
    audit: list(["audit"], ([hex]) => hexBytes(hex)),
    storeAudit: list(["store-audit"], ([hex]) => hexBytes(hex)),
    ...(fence && { fence }),
    ...(next && { next }),
    ...(payload && { payload }),
    ...(evidence && { evidence }),
    ...(snapshot !== undefined && { snapshot }),
    ...(stamped.length > 0 && { stamped }),
  };
}

describe("BatchEncoder", () => {
  const vectors = readBatchVectors();

  it("reads all vectors of the shared file", () => {
    expect(vectors.length).toBeGreaterThan(15);
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
  });

  for (const vector of vectors) {
    it(`writes the shared vector: ${vector.name}`, () => {
      const batch = batchOf(vector);
      const hex = batch.stamped === undefined ? encoded(batch) : encodedCommit(batch);
      expect(hex).toBe(vector.hex);
    });
  }

  it("writes text keys as UTF-8, with and without ASCII", () => {
    const asBytes = (key: string) => encoded({ writes: [{ key: Buffer.from(key), value: null }] });
    for (const key of ["k", "a/b\u0000c", "é", "ascii first é", "😀", "k".repeat(4096)]) {
      expect(encoded({ writes: [{ key, value: null }] })).toBe(asBytes(key));
    }
  });

  it("refuses keys that are empty, too long or ill-formed", () => {
    const keys = ["", "k".repeat(4097), "é".repeat(2049), "\ud800", new Uint8Array(4097)];
    for (const key of keys) {
      expect(() => encoded({ writes: [{ key, value: null }] })).toThrow(
        expect.objectContaining({ code: "INVALID_KEY" }),
      );
    }
    expect(encoded({ writes: [{ key: "é".repeat(2048), value: null }] }).length).toBe(2 * 4101);
  });

  it("refuses a value that is too long or no bytes", () => {
    const long = new Uint8Array(limits.VALUE_BYTES_MAX + 1);
    expect(() => encoded({ writes: [{ key: "k", value: long }] })).toThrow(
      expect.objectContaining({ code: "PAYLOAD_TOO_LARGE" }),
    );
    const text = "text" as unknown as Uint8Array;
    expect(() => encoded({ writes: [{ key: "k", value: text }] })).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT" }),
    );
  });

  it("refuses fencing tokens and numbers that do not fit", () => {
    const batches: StepBatch[] = [
      { fence: { owner: -1n, attempt: 0, step: 1 } },
      { fence: { owner: 2n ** 64n, attempt: 0, step: 1 } },
      { fence: { owner: 1n, attempt: -1, step: 1 } },
      { fence: { owner: 1n, attempt: 0, step: 2 ** 32 } },
      { next: { attempt: 0.5 } },
      { snapshot: -1 },
      { snapshot: Number.NaN },
      { records: [{ space: "nowhere" as RecordSpace, value: null }] },
      { records: [{ space: "saga", seq: 2 ** 53, value: null }] },
    ];
    for (const batch of batches) {
      expect(() => encoded(batch)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    }
  });

  it("leaves out of a commit what would change a header that ends with it", () => {
    const value = new Uint8Array(1);
    const kept = { audit: [value], fence: { owner: 1n, attempt: 2, step: 3 } };
    const { bytes, length } = encoder.ending({ ...kept, payload: value, next: { step: 9 } });
    expect(Buffer.from(bytes.subarray(0, length)).toString("hex")).toBe(encoded(kept));
  });

  it("starts over after a refusal and after a large batch", () => {
    const value = new Uint8Array(6 * 1024 * 1024);
    expect(encoder.step({ writes: [{ key: "k", value }] }).length).toBe(value.length + 10);
    expect(() => encoder.step({ writes: [{ key: "", value }] })).toThrow();
    expect(encoded({ snapshot: 2 })).toBe("0a02000000");
    expect(encoder.bytes.byteLength).toBeLessThan(value.length);
  });
});
