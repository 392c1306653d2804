// Owns `agenttx audit export`: chains as JSON Lines, one entry a line, with what another program needs to
// verify them (docs/formats.md). Written page by page: neither memory nor a slow reader limits it.

import { once } from "node:events";
import { AgentTxError, type AuditEntry } from "@agenttx/model";
import { EXIT } from "../exit-codes.js";
import type { CommandContext } from "../program.js";
import { openExistingStore } from "../session.js";
import { allChains, type ChainName, chainsOf, entriesOf } from "./audit-chains.js";

/** All chains, or those of one transaction. Exit code 3 when it is not known. */
export async function auditExport(context: CommandContext, id: string | null): Promise<number> {
  const store = await openExistingStore(context.dataDirectory);
  try {
    let chains = 0;
    let entries = 0;
    for await (const name of id === null ? allChains(store) : chainsOf(store, id)) {
      chains += 1;
      for await (const entry of entriesOf(store, name)) {
        if (process.stdout.writableEnded || process.stdout.destroyed) return EXIT.OK;
        if (!process.stdout.write(`${line(name, entry)}\n`)) await drained();
        entries += 1;
      }
    }
    if (chains === 0) {
      throw new AgentTxError("NOT_FOUND", `There is no audit chain of transaction ${id}.`, {
        details: { transaction: id },
      });
    }
    context.output.note(`${chains} chains, ${entries} entries`);
    return EXIT.OK;
  } finally {
    await store.close();
  }
}

/** A payload is text wherever its bytes are; the hash covers exactly these bytes. */
function line({ transaction, namespace }: ChainName, { seq, hash, payload }: AuditEntry): string {
  const bytes = Buffer.from(payload);
  const text = bytes.toString("utf8");
  const said = Buffer.from(text, "utf8").equals(bytes)
    ? { payload: text }
    : { payloadBase64: bytes.toString("base64") };
  return JSON.stringify({
    transaction,
    namespace,
    seq,
    hash: Buffer.from(hash).toString("hex"),
    ...said,
  });
}

/** A reader that goes away ends the wait too. */
async function drained(): Promise<void> {
  const gone = new AbortController();
  const { signal } = gone;
  await Promise.race(
    ["drain", "close", "error"].map((name) => once(process.stdout, name, { signal })),
  ).catch(() => undefined);
  gone.abort();
}
