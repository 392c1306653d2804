// Owns what people do about effects that could not be undone: list, resolve, retry.
import {
  AgentTxError,
  type EffectRecord,
  isAgentTxError,
  type Resolution,
  type ResolutionKind,
} from "@agenttx/model";
import type { EffectName } from "./effects/contract.js";
import { decodeHeader, type Header } from "./header.js";
import { loadTransaction } from "./load.js";
import { unfreezeOperation } from "./operations.js";
import { type EngineState, transactionKey } from "./state.js";

export interface ResolveEffect {
  readonly kind: ResolutionKind;
  /** Who decided. */
  readonly actor: string;
  /** Why; kept with the effect and in the audit. */
  readonly note: string;
}

/** Records a resolution; a frozen transaction goes on when it was the last one (C6, E8a). */
export async function resolveEffect(
  engine: EngineState,
  name: EffectName,
  resolve: ResolveEffect,
): Promise<EffectRecord> {
  const { kind, actor, note } = resolve ?? ({} as Partial<ResolveEffect> as ResolveEffect);
  const resolution: Resolution = { kind, actor, note, atMs: engine.clock.now() };
  return engine.effects.resolve(name, resolution);
}

/** `{transaction}/{seq}` in words. Throws INVALID_ARGUMENT when it is no effect id. */
export function readEffectId(effectId: string, namespace: string): EffectName {
  const match = /^(.+)\/([1-9]\d{0,14})$/.exec(effectId);
  if (match?.[1] === undefined) {
    throw new AgentTxError("INVALID_ARGUMENT", "This is no effect id; nothing was changed.", {
      details: { field: "effectId" },
    });
  }
  return { transaction: match[1], namespace, seq: Number(match[2]) };
}

/** Called by the effects side when nothing of a transaction is unresolved any more. */
export async function onSettled(
  engine: EngineState,
  transaction: string,
  namespace: string,
): Promise<void> {
  if (engine.closing) return;
  const header = await headerOf(engine, transaction, namespace);
  if (header?.held === true) {
    if (header.workflow !== undefined) await engine.onWorkflowSettled?.(header.workflow, namespace);
    return;
  }
  if (header?.status !== "FROZEN") return;
  const open = await loadTransaction(engine, transaction, namespace);
  await unfreezeOperation(open);
}

async function headerOf(
  engine: EngineState,
  transaction: string,
  namespace: string,
): Promise<Header | null> {
  const known = engine.open.get(transactionKey(transaction, namespace));
  if (known !== undefined) return (await known).header;
  try {
    await using tx = await engine.store.attach(transaction, { namespace });
    return decodeHeader(transaction, tx.header().payload);
  } catch (error) {
    if (isAgentTxError(error) && error.code === "NOT_FOUND") return null;
    throw error;
  }
}
