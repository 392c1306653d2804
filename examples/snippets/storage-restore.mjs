// Only the storage: a private overlay, snapshots that cost nothing, and a way back.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@agenttx/storage";

const path = mkdtempSync(join(tmpdir(), "agenttx-storage-"));
const text = (bytes) => (bytes === null ? "nothing" : Buffer.from(bytes).toString());

const store = await openStore({ path });
try {
  const tx = await store.begin("order-1");
  await tx.put("stock/KB-75", Buffer.from("20"));
  await tx.createSnapshot(2);

  await tx.put("stock/KB-75", Buffer.from("18"));
  await tx.put("order/A-1001", Buffer.from("for the wrong customer"));
  console.log("inside, before the restore:", text(await tx.get("order/A-1001")));
  console.log("outside:", text(await store.get("order/A-1001")));

  const restored = await tx.restoreSnapshot(2);
  console.log(`restored: ${restored.writesReverted} writes reverted`);
  console.log("inside, after the restore:", text(await tx.get("order/A-1001")));

  await tx.put("order/A-1001", Buffer.from("for the right customer"));
  await tx.commit();
  console.log(
    "committed:",
    text(await store.get("stock/KB-75")),
    "in stock, an order",
    text(await store.get("order/A-1001")),
  );
} finally {
  await store.close();
  rmSync(path, { recursive: true, force: true });
}
