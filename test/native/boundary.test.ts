// Goal: whatever a script hands to the addon, the answer is an error with a code, never a crash,
// and nothing is written (A5). Method: every method with every hostile value in every place.

import { loadAddon, type NativeStore, type NativeTransaction } from "@agenttx/native";
import { openStore } from "@agenttx/storage";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "./temporary-directory.js";

const addon = loadAddon();

function detached(): Uint8Array {
  const bytes = new Uint8Array(64).fill(0xff);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
}

/** Values that are wrong for at least one kind of argument. */
const HOSTILE: readonly unknown[] = [
  undefined,
  null,
  true,
  -1,
  0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 53,
  2n ** 64n,
  "",
  "\ud800",
  "x".repeat(100_000),
  Symbol("hostile"),
  {},
  [],
  () => {},
  new Proxy(new Uint8Array(4), {}),
  { length: 5, byteLength: 5 },
  new Uint8Array(0),
  Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff),
  new Uint16Array(8),
  new Float64Array(8),
  new DataView(new ArrayBuffer(8)),
  new ArrayBuffer(8),
  new Uint8Array(new SharedArrayBuffer(8)),
  new BigUint64Array(0),
  new BigInt64Array(8),
  detached(),
];

const bytes = () => new Uint8Array(64).fill(0x41);

/** Arguments that are right, by method; each place is replaced in turn. */
const STORE_ARGUMENTS: Readonly<Record<string, readonly unknown[]>> = {
  begin: ["", "hostile", false, 1000, 10, bytes(), 0],
  attach: ["", "nowhere"],
  fork: ["", "t", 1, "hostile fork", false, 1000, 10, bytes(), 0],
  openTransactions: ["", "a", 10],
  getCommitted: ["", bytes(), 3, new BigUint64Array(1)],
  scanCommitted: ["", bytes(), null, false, 10],
  readRecord: ["", "t", 1, 1, 1, "name"],
  scanRecords: ["", "t", 1, 0, "t", 0, 0, "", 10],
  writeRecords: ["", "ended", bytes(), 0],
  readAudit: ["", "t", 1, 10],
  checkpoint: [0],
};

const TRANSACTION_ARGUMENTS: Readonly<Record<string, readonly unknown[]>> = {
  header: [new BigUint64Array(5)],
  get: [bytes(), 3, false],
  getMany: [Uint8Array.of(1, 0, 0, 0, 1, 0, 0, 0, 0x41), 9, false],
  scan: [bytes(), null, false, 10],
  apply: [bytes(), 0],
  restore: [99, bytes(), 0],
  commit: [bytes(), 1],
  discard: [bytes(), 1],
};

type Method = (...values: readonly unknown[]) => unknown;

function methodOf(target: object, name: string): Method {
  const method: unknown = Reflect.get(target, name);
  if (typeof method !== "function") throw new Error(`there is no method ${name}`);
  return (...values) => Reflect.apply(method, target, values);
}

/** Code of the error that a call ends in, or null. */
async function codeOf(call: () => unknown): Promise<string | null> {
  try {
    await call();
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
    const { code } = error as { readonly code?: unknown };
    return String(code);
  }
}

async function openNative(): Promise<NativeStore> {
  const store = await addon.open(await temporaryDirectory(), false, false, 0, 1 << 20, 1 << 20);
  onTestFinished(async () => {
    await store.close();
  });
  return store;
}

/** Calls with each argument replaced by each hostile value, and with too few of them. */
async function storm(target: object, methods: Readonly<Record<string, readonly unknown[]>>) {
  let refused = 0;
  for (const [name, right] of Object.entries(methods)) {
    const method = methodOf(target, name);
    // Any text is a path, and a path may be made.
    const hostiles = HOSTILE.filter((value) => name !== "checkpoint" || typeof value !== "string");
    const variants = right.flatMap((_, place) =>
      hostiles.map((hostile) => right.map((value, at) => (at === place ? hostile : value))),
    );
    for (const values of [...variants, []]) {
      const code = await codeOf(() => method(...values));
      if (code === null) continue;
      expect([...addon.errorCodes], `${name}: ${code}`).toContain(code);
      expect(code, name).not.toBe("INTERNAL");
      refused += 1;
    }
  }
  return refused;
}

describe("the native boundary", () => {
  it("answers hostile arguments of every store method with a code", async () => {
    const store = await openNative();
    await store.begin("", "t", false, 1000, 10, bytes(), 0);
    expect(await storm(store, STORE_ARGUMENTS)).toBeGreaterThan(500);
    expect(await store.scanCommitted("", null, null, false, 10)).toEqual(new Uint8Array(4));
  });

  it("answers hostile arguments of every transaction method with a code", async () => {
    const store = await openNative();
    const tx = await store.begin("", "t", false, 1000, 10, bytes(), 0);
    expect(await storm(tx, TRANSACTION_ARGUMENTS)).toBeGreaterThan(200);
    expect(tx.touched()[1]).toBe(0);
  });

  it("answers hostile arguments of open with a code", async () => {
    const right = [await temporaryDirectory(), false, false, 0, 1 << 20, 1 << 20];
    for (const [place] of right.entries()) {
      // Text is a path that may be made, and large numbers are sizes that may be asked for.
      for (const hostile of HOSTILE.filter((value) => typeof value !== "string")) {
        const values = right.map((value, at) => (at === place ? hostile : value));
        const valid = place === 0 ? false : hostile === true && place < 3;
        if (valid) continue;
        const code = await codeOf(() => methodOf(addon, "open")(...values));
        expect(code, `${place}: ${typeof hostile}`).toBe("INVALID_ARGUMENT");
      }
    }
  });

  it("refuses methods on foreign objects and handles made by scripts", async () => {
    const store = await openNative();
    const tx = await store.begin("", "t", false, 1000, 10, bytes(), 0);
    const { get } = tx as unknown as { readonly get: () => unknown };
    const { getCommitted } = store as unknown as { readonly getCommitted: () => unknown };
    for (const foreign of [store, {}, null, undefined, Object.create(tx), new Proxy(tx, {})]) {
      expect(() => Reflect.apply(get, foreign, [bytes(), 3, false])).toThrow(TypeError);
    }
    expect(() => Reflect.apply(getCommitted, tx, ["", bytes(), 3])).toThrow(TypeError);
    for (const handle of [store, tx]) {
      const made = handle.constructor as new () => unknown;
      expect(() => new made()).toThrow(TypeError);
      expect(() => Reflect.apply(made, undefined, [])).toThrow(TypeError);
    }
  });

  it("refuses every use of a closed store and of its transactions", async () => {
    const store = await openNative();
    const tx: NativeTransaction = await store.begin("", "t", false, 1000, 10, bytes(), 0);
    await store.close();
    const uses = [
      ...Object.entries(STORE_ARGUMENTS).map(([name, values]) => [store, name, values] as const),
      ...Object.entries(TRANSACTION_ARGUMENTS).map(([name, values]) => [tx, name, values] as const),
      [store, "stats", []] as const,
      [store, "reopen", []] as const,
      [tx, "beginAttempt", []] as const,
      [tx, "touched", []] as const,
    ];
    for (const [target, name, values] of uses) {
      expect(await codeOf(() => methodOf(target, name)(...values)), name).toBe("STORE_CLOSED");
    }
    expect(await store.close()).toBe(undefined);
  });

  it("has read its bytes when the call returns, whatever happens to them then", async () => {
    const path = await temporaryDirectory();
    await using store = await openStore({ path });
    const tx = await store.begin("t");
    const large = new Uint8Array(300_000).fill(1);
    const small = new Uint8Array(10).fill(1);
    const calls = [tx.put("large", large)];
    large.fill(2);
    structuredClone(large.buffer, { transfer: [large.buffer] });
    await Promise.all(calls);
    await tx.put("small", small);
    small.fill(2);
    expect(await tx.get("large")).toEqual(new Uint8Array(300_000).fill(1));
    expect(await tx.get("small")).toEqual(new Uint8Array(10).fill(1));
  });

  it("hands out bytes that are the caller's own", async () => {
    const path = await temporaryDirectory();
    await using store = await openStore({ path });
    const tx = await store.begin("t");
    for (const [key, size] of Object.entries({ small: 10, middle: 20_000, large: 200_000 })) {
      await tx.put(key, new Uint8Array(size).fill(1));
      const first = await tx.get(key);
      const second = await tx.get(key);
      first?.fill(9);
      expect(second).toEqual(new Uint8Array(size).fill(1));
      expect(await tx.get(key)).toEqual(second);
      expect(second?.buffer.byteLength).toBe(size);
    }
  });

  it("has the error codes and numbers of both sides in one list", async () => {
    const { ERROR_CODES } = await import("@agenttx/model");
    for (const code of addon.errorCodes) expect(Object.keys(ERROR_CODES)).toContain(code);
    expect(new Set(Object.values(addon.batchOps)).size).toBe(Object.keys(addon.batchOps).length);
  });
});
