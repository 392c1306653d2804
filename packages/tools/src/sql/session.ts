// Owns the connections of sql tools and their transactions: one try is synchronous and whole; a
// locked database is waited for between tries, never on the thread.

import { setTimeout as wait } from "node:timers/promises";
import { RowCapture } from "./capture.js";
import type { OpenOptions, SqlConnection } from "./driver.js";
import { isBusy, rolledBack } from "./errors.js";
import { createMarkers } from "./markers.js";

export interface SessionSettings {
  readonly path: string;
  readonly open: (path: string, options: OpenOptions) => SqlConnection;
  /** Lower-case names of tables that may change; null: all. */
  readonly allowed: ReadonlySet<string> | null;
  readonly busyTimeoutMs: number;
}

/** The connection that changes things, with its capture. */
export interface Writer {
  readonly connection: SqlConnection;
  readonly capture: RowCapture;
}

const FIRST_WAIT_MS = 1;
const LONGEST_WAIT_MS = 50;

export class SqlSession {
  readonly #settings: SessionSettings;
  #writer: Writer | null = null;
  #reader: SqlConnection | null = null;

  constructor(settings: SessionSettings) {
    this.#settings = settings;
  }

  /**
   * Runs `work` in one IMMEDIATE transaction, again while the database is locked. What `work`
   * throws rolls everything back. Throws DefiniteFailure when nothing can have happened.
   */
  change<Result>(signal: AbortSignal, work: (writer: Writer) => Result): Promise<Result> {
    return this.#patiently(signal, () => {
      const writer = this.#openWriter();
      begin(writer);
      try {
        const result = work(writer);
        writer.connection.exec("COMMIT");
        return result;
      } finally {
        if (writer.connection.inTransaction) writer.connection.exec("ROLLBACK");
      }
    });
  }

  /** Runs `work` on the read-only connection. */
  read<Result>(signal: AbortSignal, work: (connection: SqlConnection) => Result): Promise<Result> {
    return this.#patiently(signal, () => work(this.#openReader()));
  }

  close(): void {
    this.#writer?.connection.close();
    this.#reader?.close();
    this.#writer = null;
    this.#reader = null;
  }

  #openWriter(): Writer {
    if (this.#writer !== null) return this.#writer;
    const { path, open, allowed } = this.#settings;
    const connection = open(path, { readonly: false, fileMustExist: true, timeout: 0 });
    try {
      // REPLACE reports the rows that it removes only so; tables with triggers are refused anyway.
      connection.pragma("recursive_triggers = ON");
      connection.pragma("foreign_keys = ON");
      createMarkers(connection);
      this.#writer = { connection, capture: new RowCapture(connection, allowed) };
      return this.#writer;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  #openReader(): SqlConnection {
    const { path, open } = this.#settings;
    this.#reader ??= open(path, { readonly: true, fileMustExist: true, timeout: 0 });
    return this.#reader;
  }

  async #patiently<Result>(signal: AbortSignal, attempt: () => Result): Promise<Result> {
    const until = performance.now() + this.#settings.busyTimeoutMs;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      signal.throwIfAborted();
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= until) throw rolledBack(error);
        await wait(waitMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}

/** Begins with triggers that fit the schema as it is inside the transaction. */
function begin({ connection, capture }: Writer): void {
  for (;;) {
    capture.arm();
    connection.exec("BEGIN IMMEDIATE");
    if (capture.fits()) return;
    connection.exec("ROLLBACK");
  }
}
