// Measures how long the event loop is held up while a transaction of 100,000 keys is committed,
// restored and scanned. argv: path, kind (`commit`, `restore`, `scan`), rounds. Says one JSON line
// per round: `{ delayMs, workMs }`.
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { openStore } from "@agenttx/storage";
import { say } from "./say.mjs";

const [, , path, kind, rounds] = process.argv;
const KEYS = 100_000;
const CHUNK = 2_000;
const value = new Uint8Array(64).fill(5);

const store = await openStore({ path });

/** Writes all keys, twice with a snapshot in between when they are to be restored. */
async function filled(id) {
  const tx = await store.begin(id);
  await writeAll(tx);
  if (kind !== "restore") return tx;
  await tx.createSnapshot(2);
  await writeAll(tx);
  return tx;
}

async function writeAll(tx) {
  for (let start = 0; start < KEYS; start += CHUNK) {
    await tx.write(
      Array.from({ length: CHUNK }, (_, index) => ({ key: `k${start + index}`, value })),
    );
  }
}

const WORK = {
  commit: (tx) => tx.commit(),
  restore: (tx) => tx.restoreSnapshot(2),
  scan: (tx) => tx.scan({ limit: KEYS }),
};

/** Milliseconds that the main thread was ready to run and had no processor; 0 where unknown. */
function waitedForProcessor() {
  try {
    const [, waitedNs] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(
      " ",
    );
    return Number(waitedNs) / 1e6;
  } catch {
    return 0;
  }
}

/** A clock that stands still while other processes have the processor. */
function now() {
  for (;;) {
    const start = performance.now();
    const waited = waitedForProcessor();
    // Losing the processor between the two readings would tear them apart: read again.
    if (performance.now() - start < 1) return start - waited;
  }
}

/** Longest gap between two turns of the event loop while `promise` was pending. */
async function longestGap(promise) {
  let longest = 0;
  let pending = true;
  let before = now();
  const settled = promise.then(() => {
    pending = false;
  });
  while (pending) {
    await new Promise((resolve) => setImmediate(resolve));
    const after = now();
    longest = Math.max(longest, after - before);
    before = after;
  }
  await settled;
  return longest;
}

for (let round = 0; round < Number(rounds); round += 1) {
  const tx = await filled(`t${round}`);
  globalThis.gc?.();
  const start = performance.now();
  const delayMs = await longestGap(WORK[kind](tx));
  say(JSON.stringify({ delayMs, workMs: performance.now() - start }));
  if (kind !== "commit") await tx.discard();
}
await store.close();
