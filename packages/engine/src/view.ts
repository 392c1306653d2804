// Owns what `get`, `list` and `view` show of a transaction that is open.
import type { ContextEntry, OpenTransaction as Stored, TransactionView } from "@agenttx/model";
import { decodeHeader, type Header } from "./header.js";
import { pageRecords } from "./record-pages.js";
import type { EngineState, OpenTransaction } from "./state.js";
import { unsettledEffects } from "./step/failure.js";
import { decodeStep } from "./step/record.js";
import { readTerminal, terminalView } from "./terminal.js";

const PAGE = 200;

export async function openView(open: OpenTransaction): Promise<TransactionView> {
  const busy = open.lock.running;
  const executing = busy?.kind === "step" && open.header.status === "ACTIVE";
  const committing = busy?.kind === "commit" && open.header.status === "ACTIVE";
  const status = executing ? "EXECUTING" : committing ? "COMMITTING" : open.header.status;
  return {
    ...headerView(open.id, open.header, open.nextStep),
    status,
    context: await contextOf(open.engine, open),
    unresolvedEffects: open.header.status === "FROZEN" ? await unsettledEffects(open) : [],
  };
}

/** A transaction on disk that this engine has not opened: seen without touching it. */
export function storedView(stored: Stored): TransactionView {
  const header = decodeHeader(stored.id, stored.header.payload);
  return headerView(stored.id, header, stored.header.step);
}

function headerView(id: string, header: Header, nextStep: number): TransactionView {
  return {
    id,
    agentId: header.agentId,
    metadata: header.metadata,
    status: header.status,
    nextStep: header.status === "FROZEN" ? 0 : nextStep,
    stepsCommitted: 0,
    globalResets: header.counters.resets,
    constraints: header.constraints,
    context: [],
    unresolvedEffects: [],
    abortReason: header.status === "FROZEN" ? "RECONCILIATION_REQUIRED" : null,
    beganAtMs: header.beganAtMs,
    updatedAtMs: header.updatedAtMs,
  };
}

export async function endedView(
  engine: EngineState,
  id: string,
  namespace: string,
): Promise<TransactionView | null> {
  const record = await readTerminal(engine.store, id, namespace);
  if (record === null) return null;
  const effects = await engine.effects.listEffects(id, namespace);
  const unresolved = effects.filter(({ state }) => state === "unresolved");
  return terminalView(
    id,
    record,
    unresolved.map(({ effectId }) => effectId),
  );
}

/** Raw contexts of the steps that stand; the newest within the cap, in order (E10). */
export async function contextOf(
  engine: EngineState,
  transaction: { readonly id: string; readonly namespace: string },
): Promise<readonly ContextEntry[]> {
  const entries: ContextEntry[] = [];
  let bytes = 0;
  const { id, namespace } = transaction;
  const range = { transaction: id, namespace, pageSize: PAGE };
  for await (const { step, value } of pageRecords(engine.store, "output", range)) {
    const { t: tool, c: rawContext } = decodeStep(id, step, value);
    if (rawContext === undefined) continue;
    entries.push({ step, tool, rawContext });
    bytes += rawContext.length;
    while (bytes > engine.settings.contextBytesMax && entries.length > 1) {
      bytes -= entries.shift()?.rawContext.length ?? 0;
    }
  }
  return entries;
}
