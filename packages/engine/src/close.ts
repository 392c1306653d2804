// Owns a clean shutdown (C8): what runs may finish, then open transactions are marked, so that the
// next engine on this store leaves them open for their owners instead of undoing them.
import { type EngineState, fenceOf, nextHeader, type OpenTransaction } from "./state.js";

/** Refuses new work, waits up to `graceMs` for what runs, then tells it to stop. */
export async function closeTransactions(engine: EngineState, graceMs: number): Promise<void> {
  const open = await everyOpen(engine);
  const cancel = engine.clock.schedule(graceMs, () => {
    for (const { lock } of open) lock.running?.stop?.(new Error("The engine is closing"));
  });
  await Promise.all(open.map(({ lock }) => lock.idle()));
  cancel();
  for (const one of open) await markCleanShutdown(one);
  engine.open.clear();
  engine.parked.clear();
}

async function everyOpen(engine: EngineState): Promise<OpenTransaction[]> {
  const settled = await Promise.allSettled(engine.open.values());
  return settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

async function markCleanShutdown(open: OpenTransaction): Promise<void> {
  if (open.ended !== null || open.fenced || open.header.held === true) return;
  try {
    const { payload } = nextHeader(open, { cleanShutdown: true });
    await open.tx.apply({ fence: fenceOf(open), payload });
    await open.tx[Symbol.asyncDispose]();
  } catch {
    // Without the mark the next start treats it like a crash: undone or resumed, never lost.
  }
}
