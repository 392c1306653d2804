// Owns the application's migrations of old checkpoints (C7): one per version, run in order on the
// fork that becomes the new revision. They write into a buffer that the revision's first batch
// takes over, so a crash between has changed nothing.

import type { StateView } from "@agenttx/engine";
import { AgentTxError, type Bytes, type Key, type ScanEntry, type Write } from "@agenttx/model";

/** Takes state of version n to n + 1. Must be deterministic: it may run more than once. */
export type Migration = (state: MigrationState) => Promise<void> | void;

export interface MigrationState extends StateView {
  put(key: Key, value: Bytes): void;
  delete(key: Key): void;
}

/** The versions to migrate from, in order. Throws MIGRATION_MISSING; nothing was changed. */
export function migrationPath(
  from: number,
  to: number,
  migrations: Readonly<Record<number, Migration>>,
): readonly number[] {
  if (from > to) {
    throw missing(from, to, `it is newer than this deploy, which writes version ${to}`);
  }
  const path: number[] = [];
  for (let version = from; version < to; version += 1) {
    if (migrations[version] === undefined) {
      throw missing(from, to, `no migration from version ${version} is registered`);
    }
    path.push(version);
  }
  return path;
}

function missing(from: number, to: number, why: string): AgentTxError {
  return new AgentTxError(
    "MIGRATION_MISSING",
    `The checkpoint has schema version ${from}: ${why}. Nothing was changed. Register the migration in createRecovery, or choose a checkpoint of version ${to}.`,
    { details: { from, to } },
  );
}

/** State with the migrations of `path` run over `base`, and what they wrote. */
export async function migrate(
  base: StateView,
  path: readonly number[],
  migrations: Readonly<Record<number, Migration>>,
): Promise<{ readonly view: StateView; readonly writes: readonly Write[] }> {
  const buffer = new BufferedState(base);
  for (const version of path) await migrations[version]?.(buffer);
  return { view: buffer, writes: buffer.writes() };
}

/** Reads see what was written to it. */
class BufferedState implements MigrationState {
  readonly #base: StateView;
  readonly #written = new Map<string, Bytes | null>();

  constructor(base: StateView) {
    this.#base = base;
  }

  put(key: Key, value: Bytes): void {
    this.#written.set(hexOf(key), new Uint8Array(value));
  }

  delete(key: Key): void {
    this.#written.set(hexOf(key), null);
  }

  async get(key: Key): Promise<Bytes | null> {
    const own = this.#written.get(hexOf(key));
    return own === undefined ? this.#base.get(key) : own;
  }

  async scan(range: Parameters<StateView["scan"]>[0] = {}): Promise<ScanEntry[]> {
    if (this.#written.size === 0) return this.#base.scan(range);
    // What was written may push entries out of the limit, or bring others in: it is applied last.
    const { limit = 1_000, reverse = false, ...where } = range;
    const room = limit + this.#written.size;
    const found = await this.#base.scan({ ...where, reverse, limit: Math.min(room, 100_000) });
    const merged = new Map(found.map(({ key, value }) => [hexOf(key), value]));
    for (const [hex, value] of this.#written) {
      if (value === null) merged.delete(hex);
      else if (isWithin(hex, where)) merged.set(hex, value);
    }
    const sorted = [...merged].sort(([one], [other]) => (one < other ? -1 : 1));
    if (reverse) sorted.reverse();
    return sorted.slice(0, limit).map(([hex, value]) => ({ key: Buffer.from(hex, "hex"), value }));
  }

  writes(): readonly Write[] {
    return [...this.#written].map(([hex, value]) => ({ key: Buffer.from(hex, "hex"), value }));
  }
}

/** Hex keeps the byte order of keys. */
function hexOf(key: Key): string {
  return Buffer.from(key as string).toString("hex");
}

function isWithin(
  hex: string,
  { prefix, start, end }: { prefix?: Key; start?: Key; end?: Key },
): boolean {
  if (prefix !== undefined) return hex.startsWith(hexOf(prefix));
  return (start === undefined || hex >= hexOf(start)) && (end === undefined || hex < hexOf(end));
}
