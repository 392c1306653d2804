// Owns the legal hold (C10): a mark in space `meta`, name `hold/{transaction}`, that keeps everything a
// transaction has left, whatever its age.
import { AgentTxError, type Store } from "@agenttx/model";

export interface RetentionHold {
  readonly actor: string;
  readonly reason: string;
  readonly atMs: number;
}

interface Named {
  readonly transaction: string;
  readonly namespace: string;
}

const PREFIX = "hold/";

/** Durable before it resolves, with an entry in the store's chain. A later hold replaces it. */
export async function putHold(
  store: Store,
  { transaction, namespace }: Named,
  hold: RetentionHold,
): Promise<void> {
  if (hold.actor.trim() === "" || hold.reason.trim() === "") {
    throw new AgentTxError(
      "INVALID_ARGUMENT",
      "A hold names who asks for it and why; nothing was changed.",
    );
  }
  const value = Buffer.from(JSON.stringify({ v: 1, ...hold }));
  const entry = { k: "hold", tx: transaction, at: hold.atMs, actor: hold.actor, why: hold.reason };
  await store.writeRecords("", {
    namespace,
    records: [{ space: "meta", name: `${PREFIX}${transaction}`, value }],
    storeAudit: [Buffer.from(JSON.stringify(entry))],
  });
}

/** From now on retention counts again. Harmless when there is none. */
export async function removeHold(
  store: Store,
  { transaction, namespace }: Named,
  by: { readonly actor: string; readonly atMs: number },
): Promise<void> {
  const entry = { k: "hold-lifted", tx: transaction, at: by.atMs, actor: by.actor };
  await store.writeRecords("", {
    namespace,
    records: [{ space: "meta", name: `${PREFIX}${transaction}`, value: null }],
    storeAudit: [Buffer.from(JSON.stringify(entry))],
  });
}

export async function isHeld(
  store: Store,
  transaction: string,
  namespace: string,
): Promise<boolean> {
  const name = `${PREFIX}${transaction}`;
  return (await store.readRecord("", { space: "meta", name, namespace })) !== null;
}
