// Owns reading and writing effect and undo records.
//
//   F1 A damaged record is reported and left as it is; it never stops the work on the others (C8).
//   F2 With an open transaction every batch goes through its handle, where it is fenced; without
//      one, through `store.writeRecords`. A transaction that ends in between moves to the latter.

import {
  decodeEffect,
  decodeUndo,
  effectIdOf,
  effectSeqOf,
  encodeEffect,
  encodeUndo,
  isListed,
  isSettled,
} from "@agenttx/ledger";
import {
  type BatchExtras,
  type Bytes,
  type EffectRecord,
  isAgentTxError,
  type RecordWrite,
  type StepBatch,
  type Store,
  type StoreTransaction,
  type UndoAction,
} from "@agenttx/model";
import { pageRecords } from "../record-pages.js";
import type { EffectName } from "./contract.js";
import { type Listing, putOpen, removeOpen } from "./open-list.js";

type Target = Omit<EffectName, "seq">;

export interface Damage {
  /** The effect, when the damaged record is an effect record. */
  readonly effectId: string | null;
  readonly step: number;
  readonly problem: string;
}

/** Null when there is no such effect. Throws STORE_CORRUPT for a damaged one. */
export async function readEffect(store: Store, name: EffectName): Promise<EffectRecord | null> {
  const key = { space: "effect", seq: name.seq, namespace: name.namespace } as const;
  const bytes = await store.readRecord(name.transaction, key);
  return bytes === null ? null : decodeEffect(bytes);
}

/** Every effect record of the transaction, by seq. */
export async function readEffects(
  store: Store,
  { transaction, namespace }: Target,
): Promise<{ readonly effects: EffectRecord[]; readonly damage: Damage[] }> {
  const effects: EffectRecord[] = [];
  const damage: Damage[] = [];
  for await (const row of pageRecords(store, "effect", { transaction, namespace })) {
    try {
      effects.push(decodeEffect(row.value));
    } catch (error) {
      const effectId = effectIdOf(transaction, row.seq);
      damage.push({ effectId, step: 0, problem: messageOf(error) });
    }
  }
  return { effects, damage };
}

/** Every undo action that is not confirmed yet, by step and seq. */
export async function readUndo(
  store: Store,
  { transaction, namespace }: Target,
): Promise<{ readonly undo: UndoAction[]; readonly damage: Damage[] }> {
  const undo: UndoAction[] = [];
  const damage: Damage[] = [];
  for await (const row of pageRecords(store, "saga", { transaction, namespace })) {
    try {
      undo.push(decodeUndo(row.value));
    } catch (error) {
      damage.push({ effectId: null, step: row.step, problem: messageOf(error) });
    }
  }
  return { undo, damage };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "It cannot be read.";
}

export function putUndo(action: UndoAction): RecordWrite {
  return { space: "saga", step: action.step, seq: action.seq, value: encodeUndo(action) };
}

/**
 * What a change of an effect writes: its record; the removal of its undo actions once it is
 * settled; its place in the list of open ones (O1). `listing` null keeps the place it has.
 */
export function effectWrites(
  before: EffectRecord | null,
  after: EffectRecord,
  undo: readonly UndoAction[],
  listing: Listing | null = null,
): RecordWrite[] {
  const seq = effectSeqOf(after.effectId);
  const writes: RecordWrite[] = [{ space: "effect", seq, value: encodeEffect(after) }];
  if (isSettled(after.state)) {
    for (const { step, seq: undoSeq } of undo) {
      writes.push({ space: "saga", step, seq: undoSeq, value: null });
    }
  }
  const wasListed = before !== null && isListed(before);
  if (isListed(after)) {
    if (listing !== null || !wasListed) {
      writes.push(putOpen(after, listing ?? { failedTries: 0, nextAtMs: null }));
    }
  } else if (wasListed) {
    writes.push(removeOpen(after));
  }
  return writes;
}

export interface LedgerWriter {
  write(batch: {
    readonly records: readonly RecordWrite[];
    readonly audit: readonly Bytes[];
  }): Promise<void>;
  close(): Promise<void>;
}

/**
 * Writes through the handle given, or one of its own while the transaction is open (F2). Every batch
 * carries `owner`, by default the one of now: once another has taken over, it is refused (C3).
 */
export async function openWriter(
  store: Store,
  target: Target,
  tx: StoreTransaction | null,
  owner?: bigint,
): Promise<LedgerWriter> {
  const own = tx === null ? await attachIfOpen(store, target) : null;
  let handle = tx ?? own;
  const token = owner ?? handle?.header().owner ?? 0n;
  return {
    async write(batch) {
      if (handle !== null) {
        try {
          await applyAs(handle, token, batch);
          return;
        } catch (error) {
          if (!isAgentTxError(error) || error.code !== "TRANSACTION_ENDED") throw error;
          handle = null;
        }
      }
      const extras: Pick<BatchExtras, "records" | "audit"> = batch;
      await store.writeRecords(target.transaction, { ...extras, namespace: target.namespace });
    },
    async close() {
      await own?.[Symbol.asyncDispose]();
    },
  };
}

/** Times that attempt or step may change between reading the header and the write. */
const RACES_MAX = 100;

/**
 * One batch in the name of an owner, whatever attempt and step the transaction is at. Throws
 * STALE_OWNER when the token is not the transaction's; nothing was written then.
 */
export async function applyAs(
  handle: StoreTransaction,
  owner: bigint,
  batch: StepBatch,
): Promise<void> {
  for (let race = 1; ; race += 1) {
    const { attempt, step } = handle.header();
    try {
      await handle.apply({ ...batch, fence: { owner, attempt, step } });
      return;
    } catch (error) {
      const moved =
        isAgentTxError(error) &&
        (error.code === "STALE_ATTEMPT" || error.code === "STEP_OUT_OF_ORDER");
      if (!moved || race >= RACES_MAX) throw error;
    }
  }
}

async function attachIfOpen(store: Store, target: Target): Promise<StoreTransaction | null> {
  try {
    return await store.attach(target.transaction, { namespace: target.namespace });
  } catch (error) {
    if (isAgentTxError(error) && (error.code === "NOT_FOUND" || error.code === "TRANSACTION_ENDED"))
      return null;
    throw error;
  }
}
