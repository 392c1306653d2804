// Runs inside a small file system: fills it, expects refusals and no crash, frees room, reopens.
// argv: directory. Says one JSON line with what was seen.
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@agenttx/storage";
import { say } from "./say.mjs";

const [, , directory] = process.argv;
const ballast = join(directory, "ballast");
const store = await openStore({
  path: join(directory, "db"),
  freeSpaceReserveBytes: 0,
  writeBufferBytes: 1024 * 1024 * 8,
});
const value = new Uint8Array(48 * 1024).fill(9);
const acknowledged = [];
const codes = new Set();

async function commit(number) {
  const tx = await store.begin(`t${number}`);
  await tx.put(`k${number}`, value);
  await tx.commit();
  acknowledged.push(`k${number}`);
}

for (let number = 0; number < 10; number += 1) await commit(number);
const { bavail, bsize } = statfsSync(directory);
writeFileSync(ballast, new Uint8Array(Math.max(0, bavail * bsize - 256 * 1024)));
// The log may have room that it took before; well above the size of the file system it has none.
for (let number = 10; number < 1_000 && codes.size === 0; number += 1) {
  try {
    await commit(number);
  } catch (error) {
    codes.add(error.code);
  }
}
const poisoned = (await store.stats()).poisoned;
const readable = (await store.get("k0"))?.length ?? 0;
rmSync(ballast);
await store.reopen();
let missing = 0;
for (const key of acknowledged) if ((await store.get(key)) === null) missing += 1;
await commit(2_000);
const healed = (await store.stats()).poisoned;
await store.close();
say(
  JSON.stringify({
    codes: [...codes],
    poisoned,
    readable,
    acknowledged: acknowledged.length,
    missing,
    healed,
  }),
);
