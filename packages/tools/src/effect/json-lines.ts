// Owns the JSON Lines sink: one file, one line per delivered effect.
//
//   J1 A line is fsynced before delivery is confirmed.
//   J2 An effect already in the tail of the file is not written again: redelivery is harmless.
//   J3 A torn last line (the process died in the middle) was never confirmed and is cut off.

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import type { EffectSink, StagedEffect } from "./sink.js";

export interface JsonLinesOptions {
  /** The file; it is made (0600) when missing, its directory is not. */
  readonly path: string;
  /** How far back a repeated key is looked for. Default 4 MiB. */
  readonly tailBytes?: number;
}

const NEWLINE = 0x0a;

/**
 * A sink that appends `{ idempotencyKey, transaction, step, payload }` lines. One process writes
 * the file; deliveries of one sink run one after another.
 */
export function jsonLinesSink(options: JsonLinesOptions): EffectSink {
  const tailBytes = options.tailBytes ?? 4 * 1024 * 1024;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const mine = last.then(work, work);
    last = mine.catch(() => undefined);
    return mine;
  };
  return {
    deliver: (effect) => inTurn(() => append(options.path, effect, tailBytes)),
    has: (idempotencyKey) =>
      inTurn(async () => {
        const handle = await openFile(options.path);
        try {
          return (await readTail(handle, tailBytes)).keys.has(idempotencyKey);
        } finally {
          await handle.close();
        }
      }),
  };
}

function openFile(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
}

async function append(
  path: string,
  effect: StagedEffect,
  tailBytes: number,
): Promise<{ duplicate: boolean }> {
  const handle = await openFile(path);
  try {
    const tail = await readTail(handle, tailBytes);
    if (tail.keys.has(effect.idempotencyKey)) {
      // Its first delivery may have died between the write and the fsync.
      await handle.sync();
      return { duplicate: true };
    }
    const { idempotencyKey, transaction, step, payload } = effect;
    const line = `${JSON.stringify({ idempotencyKey, transaction, step, payload })}\n`;
    if (tail.end < tail.size) await handle.truncate(tail.end);
    const bytes = Buffer.from(line, "utf8");
    let written = 0;
    while (written < bytes.byteLength) {
      const at = tail.end + written;
      written += (await handle.write(bytes, written, bytes.byteLength - written, at)).bytesWritten;
    }
    await handle.sync();
    if (tail.size === 0) await syncDirectory(dirname(path));
    return { duplicate: false };
  } finally {
    await handle.close();
  }
}

interface Tail {
  readonly size: number;
  /** Offset behind the last whole line. */
  readonly end: number;
  readonly keys: ReadonlySet<string>;
}

async function readTail(handle: FileHandle, tailBytes: number): Promise<Tail> {
  const { size } = await handle.stat();
  // A line longer than the window must not hide where the last whole one ends.
  for (let window = tailBytes; ; window *= 2) {
    const from = Math.max(0, size - window);
    const bytes = Buffer.alloc(size - from);
    let read = 0;
    while (read < bytes.byteLength) {
      const { bytesRead } = await handle.read(bytes, read, bytes.byteLength - read, from + read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    const newline = bytes.lastIndexOf(NEWLINE);
    if (newline === -1 && from > 0) continue;
    const start = from === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
    const whole = bytes.subarray(start, newline + 1).toString("utf8");
    return { size, end: from + newline + 1, keys: keysOf(whole) };
  }
}

function keysOf(lines: string): Set<string> {
  const keys = new Set<string>();
  for (const line of lines.split("\n")) {
    if (line === "") continue;
    try {
      const row: unknown = JSON.parse(line);
      if (typeof row !== "object" || row === null || !("idempotencyKey" in row)) continue;
      if (typeof row.idempotencyKey === "string") keys.add(row.idempotencyKey);
    } catch {
      // Not one of ours: someone wrote into the file by hand.
    }
  }
  return keys;
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
