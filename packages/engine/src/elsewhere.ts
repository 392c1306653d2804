// Owns the question whether another engine of this process works on a transaction: recovery and the
// reaper leave that one alone (C8).
//
//   A1 Engines on one Store know each other here; those on other Stores of the same folder, in
//      whatever thread, by the store's claims.
//   A2 An entry of an earlier opening counts for nothing: its handle is stale, as after a crash.
import { isAgentTxError, type Store } from "@agenttx/model";
import { type EngineState, type OpenTransaction, transactionKey } from "./state.js";

const engines = new WeakMap<Store, Set<EngineState>>();

export function addEngine(engine: EngineState): void {
  const known = engines.get(engine.store) ?? new Set();
  engines.set(engine.store, known.add(engine));
}

export function removeEngine(engine: EngineState): void {
  engines.get(engine.store)?.delete(engine);
}

/**
 * Takes up a transaction that no other engine works on. `take` enters it into `open` before its
 * first await: from the last look on nobody else can come in between. `ended`: it is not open.
 */
export async function takeIfFree(
  engine: EngineState,
  { id, namespace }: { readonly id: string; readonly namespace: string },
  take: () => Promise<OpenTransaction>,
): Promise<OpenTransaction | "elsewhere" | "ended"> {
  try {
    if (!(await engine.store.claim(id, { namespace }))) return "elsewhere";
  } catch (error) {
    if (isAgentTxError(error) && error.code === "NOT_FOUND") return "ended";
    throw error;
  }
  return isOfSibling(engine, transactionKey(id, namespace)) ? "elsewhere" : take();
}

function isOfSibling(engine: EngineState, key: string): boolean {
  for (const other of engines.get(engine.store) ?? []) {
    const entry = other === engine ? undefined : other.open.get(key);
    if (entry === undefined) continue;
    if (entry instanceof Promise || entry.incarnation === engine.store.incarnation) return true;
  }
  return false;
}
