// Owns the state that a tool in this process writes: collected here, sent with the step's result,
// written by the server in the step's own batch. What the server holds cannot be read from here.

import { AgentTxError, type ToolState } from "@agenttx/model";

export interface StateWrite {
  readonly key: Buffer;
  /** undefined deletes. */
  readonly value: Buffer | undefined;
}

export class StateWrites implements ToolState {
  readonly #writes = new Map<string, StateWrite>();
  #sealed = false;

  /** One write per key, the last one; the tool can write no more. */
  seal(): StateWrite[] {
    this.#sealed = true;
    return [...this.#writes.values()];
  }

  /** Own writes of this step only; another key is refused. */
  async get(key: string | Uint8Array): Promise<Uint8Array | null> {
    const own = this.#writes.get(nameOf(key));
    if (own !== undefined) return own.value ?? null;
    throw unreadable();
  }

  put(key: string | Uint8Array, value: Uint8Array): void {
    this.#write(key, Buffer.from(value));
  }

  delete(key: string | Uint8Array): void {
    this.#write(key, undefined);
  }

  async scan(): Promise<never> {
    throw unreadable();
  }

  #write(key: string | Uint8Array, value: Buffer | undefined): void {
    if (this.#sealed) {
      throw new AgentTxError(
        "STALE_ATTEMPT",
        "The step has ended; its state can no longer be used.",
      );
    }
    this.#writes.set(nameOf(key), { key: bytesOf(key), value });
  }
}

function unreadable(): AgentTxError {
  return new AgentTxError(
    "INVALID_ARGUMENT",
    "A tool in the client reads only what it wrote in this step. Read with a step of the server's, such as kv.get, and pass the value as an argument.",
  );
}

function bytesOf(key: string | Uint8Array): Buffer {
  return typeof key === "string" ? Buffer.from(key, "utf8") : Buffer.from(key);
}

/** Text and its UTF-8 bytes are the same key. */
function nameOf(key: string | Uint8Array): string {
  return bytesOf(key).toString("latin1");
}
