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
// Larger pages are handed out in parts too, but garbage collection of so many results has pauses
// of its own.
const PAGE = 5_000;
const value = new Uint8Array(64).fill(5);

const store = await openStore({ path });

async function filled(id) {
  const tx = await store.begin(id);
  for (let start = 0; start < KEYS; start += CHUNK) {
    await tx.write(
      Array.from({ length: CHUNK }, (_, index) => ({ key: `k${start + index}`, value })),
    );
  }
  return tx;
}

const WORK = {
  commit: (tx) => tx.commit(),
  restore: (tx) => tx.restoreSnapshot(1),
  scan: async (tx) => {
    for (let start = new Uint8Array(0), page; page === undefined || page.length > 0; ) {
      page = await tx.scan({ start, limit: PAGE });
      start = Buffer.concat([page.at(-1)?.key ?? start, new Uint8Array(1)]);
    }
  },
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
  return performance.now() - waitedForProcessor();
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
