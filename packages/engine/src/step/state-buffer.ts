// Owns the writes of one running step: private until its batch, merged over the transaction's reads.
//
//   B1 A step that fails leaves nothing: what it wrote exists only here.
//   B2 Sealed when the step ends: a tool that goes on afterwards is refused (E6).
//   B3 Keys are checked when they are used, so that a bad one is the tool's failure and not the
//      batch's.
import {
  AgentTxError,
  limits,
  type StateEntry,
  type StateRange,
  type StoreTransaction,
  type ToolState,
  type Write,
} from "@agenttx/model";
import { type OwnWrite, scanWithOwn } from "./own-scan.js";
import { rejected } from "./rejected.js";

const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
/** Cannot start a valid text key, so a key of raw bytes never equals one. */
const BYTES_MARK = "\ud800";

export class StateBuffer implements ToolState {
  /** Set when the store itself failed: then the step is no failure of the tool (R9). */
  storeError: unknown = null;
  readonly #tx: StoreTransaction;
  #writes: Map<string, Write> | null = null;
  #sealed = false;

  constructor(tx: StoreTransaction) {
    this.#tx = tx;
  }

  /** The step's writes: one per key, the last one. Ends the use of this buffer (B2). */
  seal(): readonly Write[] {
    this.#sealed = true;
    return this.#writes === null ? [] : [...this.#writes.values()];
  }

  /** True once the step has ended. */
  get sealed(): boolean {
    return this.#sealed;
  }

  get(key: string | Uint8Array, options?: { validate?: boolean }): Promise<Uint8Array | null> {
    return this.#sealed ? rejected(ended()) : this.#get(key, options);
  }

  async #get(
    key: string | Uint8Array,
    options: { validate?: boolean } | undefined,
  ): Promise<Uint8Array | null> {
    const own = this.#writes === null ? undefined : this.#writes.get(nameOf(key));
    if (own !== undefined) return own.value === null ? null : copyOf(own.value);
    return this.#read(() => this.#tx.get(key, options));
  }

  put(key: string | Uint8Array, value: Uint8Array): void {
    if (!(value instanceof Uint8Array)) refuse("INVALID_ARGUMENT", "A value is bytes");
    if (value.byteLength > limits.VALUE_BYTES_MAX) {
      refuse("PAYLOAD_TOO_LARGE", `A value has at most ${limits.VALUE_BYTES_MAX} bytes`);
    }
    this.#write(key, value);
  }

  delete(key: string | Uint8Array): void {
    this.#write(key, null);
  }

  scan(range: StateRange): Promise<readonly StateEntry[]> {
    return this.#sealed ? rejected(ended()) : this.#scan(range);
  }

  async #scan(range: StateRange): Promise<readonly StateEntry[]> {
    const read = (page: StateRange) => this.#read(() => this.#tx.scan(page));
    const own = this.#ownWithin(range);
    return own.length === 0 ? read(range) : scanWithOwn(range, own, read);
  }

  #ownWithin(range: StateRange): readonly OwnWrite[] {
    const own: OwnWrite[] = [];
    for (const { key, value } of this.#writes?.values() ?? []) {
      const bytes = bytesOf(key);
      if (isWithin(bytes, range)) own.push({ key: bytes, value });
    }
    return own;
  }

  #write(key: string | Uint8Array, value: Uint8Array | null): void {
    this.#requireRunning();
    checkKey(key);
    this.#writes ??= new Map();
    const copy = typeof key === "string" ? key : copyOf(key);
    this.#writes.set(nameOf(key), { key: copy, value: value === null ? null : copyOf(value) });
  }

  async #read<Result>(read: () => Promise<Result>): Promise<Result> {
    this.#requireRunning();
    try {
      return await read();
    } catch (error) {
      if (!isCallersMistake(error)) this.storeError ??= error;
      throw error;
    }
  }

  #requireRunning(): void {
    if (this.#sealed) throw ended();
  }
}

const MISTAKES: readonly string[] = ["INVALID_KEY", "INVALID_ARGUMENT", "SCAN_NOT_SERIALIZABLE"];

function isCallersMistake(error: unknown): boolean {
  return error instanceof AgentTxError && MISTAKES.includes(error.code);
}

function checkKey(key: string | Uint8Array): void {
  const bytes = typeof key === "string" ? Buffer.byteLength(key) : key.byteLength;
  if (bytes < 1 || bytes > limits.KEY_BYTES_MAX) {
    refuse("INVALID_KEY", `A key has 1..${limits.KEY_BYTES_MAX} bytes, not ${bytes}`);
  }
  // Text of as many bytes as units is ASCII.
  if (typeof key === "string" && bytes !== key.length && LONE_SURROGATE.test(key)) {
    refuse("INVALID_KEY", "The key holds a lone surrogate and has no UTF-8 form");
  }
}

/** Bytes of their own: `slice` of a Buffer would share its memory with the caller. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

/** One text per key, however it was given: text and its UTF-8 bytes are the same key. */
function nameOf(key: string | Uint8Array): string {
  if (typeof key === "string") return key;
  try {
    return DECODER.decode(key);
  } catch {
    return BYTES_MARK + Buffer.from(key).toString("latin1");
  }
}

function bytesOf(key: string | Uint8Array): Buffer {
  return Buffer.from(key as string);
}

function isWithin(key: Buffer, range: StateRange): boolean {
  if (range.prefix !== undefined) {
    const prefix = bytesOf(range.prefix);
    return key.subarray(0, prefix.length).equals(prefix);
  }
  if (range.start !== undefined && key.compare(bytesOf(range.start)) < 0) return false;
  return range.end === undefined || key.compare(bytesOf(range.end)) < 0;
}

function ended(): AgentTxError {
  const text = "The step has ended; its state can no longer be used; nothing was written.";
  return new AgentTxError("STALE_ATTEMPT", text);
}

function refuse(
  code: "INVALID_KEY" | "INVALID_ARGUMENT" | "PAYLOAD_TOO_LARGE",
  what: string,
): never {
  throw new AgentTxError(code, `${what}; nothing was written.`);
}
