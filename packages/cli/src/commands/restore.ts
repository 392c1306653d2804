// Owns `agenttx restore`: a data directory made from a backup.
//
//   I1 The target appears whole or not at all: the copy is made and opened beside it, then renamed. A
//      restore that was killed leaves a directory `.restoring-…`, which no command takes for a store.
//   I2 The backup is read, and opened only when somebody else could have it open.
//   I3 The copy gets a new incarnation (S12): what the old store's handles still send is refused.

import { existsSync } from "node:fs";
import { chmod, cp, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createEngine } from "@agenttx/engine";
import { AgentTxError, type Store } from "@agenttx/model";
import { openStore } from "@agenttx/storage";
import { EXIT } from "../exit-codes.js";
import { API_VERSION, type Output } from "../output.js";
import type { CommandContext } from "../program.js";
import { formatMs } from "../timeline/duration.js";

const UNRESOLVED_COUNTED_MAX = 1_000;
const MIB = 1024 * 1024;

/**
 * Refuses with NOT_FOUND when the backup is none, with INVALID_ARGUMENT when the data directory is there
 * and not empty, and with the store's own codes when the backup is in use or damaged; nothing is there
 * then that was not before.
 */
export async function restore(context: CommandContext, backup: string): Promise<number> {
  const { output, dataDirectory } = context;
  const from = resolve(backup);
  const to = resolve(dataDirectory);
  if (!existsSync(join(from, "FORMAT"))) {
    throw new AgentTxError("NOT_FOUND", `There is no backup at ${from}; nothing was restored.`, {
      details: { path: from },
    });
  }
  await requireVacant(to);
  await requireUnused(from);
  // What opening the copy makes belongs to its user alone, too.
  process.umask(0o077);
  const startedAt = performance.now();
  const partial = `${to}.restoring-${process.pid}`;
  try {
    const bytes = await copyTree(from, partial, output);
    const found = await look(partial);
    // An empty directory is replaced; one that was filled meanwhile makes this fail.
    await rename(partial, to);
    await sync(dirname(to));
    const durationMs = performance.now() - startedAt;
    output.data({
      apiVersion: API_VERSION,
      type: "restore",
      path: to,
      bytes,
      durationMs,
      ...found,
    });
    tell(output, to, { ...found, bytes, durationMs });
    return EXIT.OK;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

async function requireVacant(path: string): Promise<void> {
  const entries = existsSync(path) ? await readdir(path).catch(() => ["a file"]) : [];
  if (entries.length === 0) return;
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    `${path} is not empty and is left as it is. Give --data with a directory that does not exist.`,
    { details: { path } },
  );
}

/** I2: a copy that was never opened has no LOCK. Throws STORE_LOCKED. */
async function requireUnused(path: string): Promise<void> {
  if (!existsSync(join(path, "LOCK"))) return;
  const store = await openStore({ path });
  await store.close();
}

/** Copies and fsyncs; files 0600, directories 0700. Returns the bytes. */
async function copyTree(from: string, to: string, output: Output): Promise<number> {
  await mkdir(to, { mode: 0o700 });
  let bytes = 0;
  let told = 0;
  for (const entry of await readdir(from, { withFileTypes: true, recursive: true })) {
    const source = join(entry.parentPath, entry.name);
    const target = join(to, source.slice(from.length));
    if (entry.isDirectory()) {
      await mkdir(target, { mode: 0o700, recursive: true });
      continue;
    }
    // Links and sockets are of nobody's backup.
    if (!entry.isFile() || entry.name === "LOCK") continue;
    await mkdir(dirname(target), { mode: 0o700, recursive: true });
    await cp(source, target, { errorOnExist: true, force: false });
    await chmod(target, 0o600);
    await sync(target);
    bytes += (await stat(target)).size;
    if (bytes - told >= 256 * MIB) {
      told = bytes;
      output.note(`${Math.round(bytes / MIB)} MiB copied`);
    }
  }
  await sync(to);
  return bytes;
}

async function sync(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

interface Found {
  readonly commitVersion: bigint;
  readonly openTransactions: number;
  readonly unresolved: number;
}

/** Opens the copy, which verifies it and makes it an own store (I3), and looks at what it holds. */
async function look(path: string): Promise<Found> {
  const store: Store = await openStore({ path });
  try {
    const { commitVersion, openTransactions } = await store.stats();
    const engine = createEngine({ store, tools: [] });
    const unresolved = await engine.unresolved({ limit: UNRESOLVED_COUNTED_MAX });
    return { commitVersion, openTransactions, unresolved: unresolved.length };
  } finally {
    await store.close();
  }
}

function tell(
  output: Output,
  path: string,
  {
    commitVersion,
    openTransactions,
    unresolved,
    bytes,
    durationMs,
  }: Found & {
    readonly bytes: number;
    readonly durationMs: number;
  },
): void {
  const size = `${(bytes / MIB).toFixed(1)} MiB`;
  output.line(
    `restored to ${path}, commit version ${commitVersion}, ${size}, ${formatMs(durationMs)}`,
  );
  if (openTransactions + unresolved === 0) return;
  output.note(
    `${openTransactions} transactions are open in it and ${unresolved} effects unresolved, as of the backup. What the old store did since is not known here: look with agenttx list and agenttx unresolved before a server or agenttx recover undoes them. Owners see the same idempotency keys again.`,
  );
}
