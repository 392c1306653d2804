// Measures how long the event loop is held up while a transaction of 100,000 keys is committed,
// restored and scanned. argv: path, kind (`commit`, `restore`, `scan`), rounds. Says one JSON line
// per round: `{ delayMs, workMs }`.
import { performance } from "node:perf_hooks";
import { openStore } from "@agenttx/storage";
import { say } from "./say.mjs";

const [, , path, kind, rounds] = process.argv;
const KEYS = 100_000;
const CHUNK = 2_000;
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
  scan: (tx) => tx.scan({ limit: KEYS }),
};

/** Longest gap between two turns of the event loop while `promise` was pending. */
async function longestGap(promise) {
  let longest = 0;
  let pending = true;
  let before = performance.now();
  const settled = promise.then(() => {
    pending = false;
  });
  while (pending) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = performance.now();
    longest = Math.max(longest, now - before);
    before = now;
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
