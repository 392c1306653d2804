// Claims of the result reader: packed rows come out as they went in, each with bytes of its own.

import { describe, expect, it } from "vitest";
import { ByteWriter } from "./byte-writer.js";
import { toAgentTxError } from "./native-error.js";
import {
  ResultReader,
  readAuditEntries,
  readEntries,
  readKeys,
  readRecords,
  readTransactions,
  readValues,
} from "./result-reader.js";

function packed(write: (out: ByteWriter) => void): Uint8Array {
  const out = new ByteWriter();
  write(out);
  return out.bytes.slice(0, out.length);
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe("ResultReader", () => {
  it("reads numbers up to the largest of each width", () => {
    const reader = new ResultReader(
      packed((out) => {
        out.u8(255);
        out.u32(0xffff_ffff);
        out.u64(Number.MAX_SAFE_INTEGER);
        out.bigU64(2n ** 64n - 1n);
        out.bigU64(2n ** 53n + 1n);
      }),
    );
    expect(reader.u8()).toBe(255);
    expect(reader.u32()).toBe(0xffff_ffff);
    expect(reader.u64()).toBe(Number.MAX_SAFE_INTEGER);
    expect(reader.bigU64()).toBe(2n ** 64n - 1n);
    expect(reader.bigU64()).toBe(2n ** 53n + 1n);
  });

  it("gives each row bytes of its own", async () => {
    const page = packed((out) => {
      out.u32(2);
      for (const byte of [1, 2]) {
        out.sized(bytes(byte));
        out.sized(bytes(byte, byte));
      }
    });
    const rows = await readEntries(page);
    page.fill(0xee);
    expect(rows).toEqual([
      { key: bytes(1), value: bytes(1, 1) },
      { key: bytes(2), value: bytes(2, 2) },
    ]);
    expect(rows[0]?.value.buffer.byteLength).toBe(2);
  });

  it("tells an absent value from an empty one", async () => {
    const page = packed((out) => {
      out.u32(2);
      out.u8(0);
      out.sized(bytes());
      out.u8(1);
      out.sized(bytes());
    });
    expect(await readValues(page)).toEqual([null, bytes()]);
  });

  it("reads records, audit entries and transactions field by field", async () => {
    const records = packed((out) => {
      out.u32(1);
      out.sized(Buffer.from("tx/é"));
      out.u32(7);
      out.u64(2 ** 40);
      out.sized(Buffer.from("name"));
      out.sized(bytes(9));
    });
    expect(await readRecords(records)).toEqual([
      { transaction: "tx/é", step: 7, seq: 2 ** 40, name: "name", value: bytes(9) },
    ]);
    const audit = packed((out) => {
      out.u32(1);
      out.u64(3);
      out.sized(bytes(1));
      out.sized(new Uint8Array(32).fill(5));
    });
    expect(await readAuditEntries(audit)).toEqual([
      { seq: 3, payload: bytes(1), hash: new Uint8Array(32).fill(5) },
    ]);
    const transactions = packed((out) => {
      out.u32(1);
      out.sized(Buffer.from("ns"));
      out.sized(Buffer.from("id"));
      out.bigU64(2n ** 63n);
      out.bigU64(1n);
      out.u64(4);
      out.u32(5);
      out.u32(6);
      out.sized(bytes(8));
    });
    expect(await readTransactions(transactions)).toEqual([
      {
        namespace: "ns",
        id: "id",
        header: {
          incarnation: 2n ** 63n,
          owner: 1n,
          attempt: 4,
          step: 5,
          snapshot: 6,
          payload: bytes(8),
        },
      },
    ]);
  });

  it("lets other work run between the parts of a large page", async () => {
    const page = packed((out) => {
      out.u32(6_001);
      for (let row = 0; row < 12_002; row += 1) out.sized(bytes(row & 0xff));
    });
    let turns = 0;
    const ticking = setInterval(() => {
      turns += 1;
    }, 0);
    const immediate = () => {
      turns += 1;
      pending = setImmediate(immediate);
    };
    let pending = setImmediate(immediate);
    const rows = await readEntries(page);
    clearInterval(ticking);
    clearImmediate(pending);
    expect(rows.length).toBe(6_001);
    expect(turns).toBeGreaterThanOrEqual(3);
  });
});

describe("toAgentTxError", () => {
  it("makes a write conflict with the keys of the other committer", () => {
    const conflictKeys = packed((out) => {
      out.u32(2);
      out.sized(Buffer.from("a"));
      out.sized(bytes(0xff));
    });
    const native = Object.assign(new Error("lost"), { code: "WRITE_CONFLICT", conflictKeys });
    const error = toAgentTxError(native);
    expect(error.name).toBe("WriteConflictError");
    expect(error).toMatchObject({ code: "WRITE_CONFLICT", keys: readKeys(conflictKeys) });
    expect(error.details.keys).toEqual(["a", "0xff"]);
  });

  it("keeps code and message, and names an unknown failure INTERNAL with its cause", () => {
    const known = toAgentTxError(Object.assign(new Error("locked by 7"), { code: "STORE_LOCKED" }));
    expect(known).toMatchObject({ code: "STORE_LOCKED", message: "locked by 7" });
    const odd = new TypeError("odd");
    expect(toAgentTxError(odd)).toMatchObject({ code: "INTERNAL", cause: odd });
    expect(toAgentTxError(undefined).code).toBe("INTERNAL");
    expect(toAgentTxError(Object.assign(new Error("x"), { code: "toString" })).code).toBe(
      "INTERNAL",
    );
    expect(toAgentTxError(known)).toBe(known);
  });
});
