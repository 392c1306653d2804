// A program that uses @agenttx/storage as its README says.
import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store, type StoreOptions } from "@agenttx/storage";
import { storeConformance, type TestFramework } from "@agenttx/storage/conformance";
import { openMemoryStore } from "@agenttx/storage/memory";

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

async function orders(store: Store): Promise<void> {
  const tx = await store.begin("order-42");
  await tx.put("stock/apples", text("7"));
  await tx.createSnapshot(2);
  await tx.put("stock/apples", text("6"));
  const restored = await tx.restoreSnapshot(2);
  equal(restored.writesReverted, 1);
  const { commitVersion } = await tx.commit();
  const found = await store.getVersioned("stock/apples");
  deepEqual(found, { value: text("7"), version: commitVersion });
  await rejects(tx.get("stock/apples"), { name: "AgentTxError", code: "TRANSACTION_ENDED" });
}

const path = await mkdtemp(join(tmpdir(), "agenttx-consumer-"));
try {
  const options: StoreOptions = { path, syncWrites: true };
  await using store = await openStore(options);
  await orders(store);
  await using memory = openMemoryStore();
  await orders(memory);
} finally {
  await rm(path, { recursive: true, force: true });
}

let claims = 0;
const framework: TestFramework = {
  describe: (_name, body) => body(),
  it: () => {
    claims += 1;
  },
  expect: () => ({ toBe: () => {}, toEqual: () => {} }),
};
storeConformance(framework, {
  name: "mine",
  open: async () => ({ store: openMemoryStore(), cleanup: () => {} }),
});
equal(claims > 50, true);
