// Owns `agenttx reconcile list | show | resolve`: what waits for somebody, with its evidence (C6).

import { AgentTxError, type ReconciliationItem, type ResolutionKind } from "@agenttx/model";
import { EXIT } from "../../exit-codes.js";
import { API_VERSION, printable } from "../../output.js";
import type { CommandContext } from "../../program.js";
import { pairLines, tableLines } from "../../table.js";
import { isoTime } from "../list.js";
import type { RecoveryCalls } from "./calls.js";
import { openRecovery } from "./session.js";

/** Oldest first; exit code 0 also when there are some: asking is no failure. */
export async function reconcileList(context: CommandContext, id: string | null): Promise<number> {
  const { output } = context;
  const session = await openRecovery(context);
  try {
    const items = await itemsOf(session.recovery, id);
    output.data(items);
    if (items.length === 0) output.note("nothing waits");
    else {
      const columns = [
        { title: "effect", value: ({ effect }: ReconciliationItem) => effect.effectId },
        { title: "workflow", value: ({ workflow }: ReconciliationItem) => workflow },
        { title: "tool", value: ({ effect }: ReconciliationItem) => effect.tool },
        { title: "waits for", value: ({ effect }: ReconciliationItem) => effect.waitsFor },
        { title: "since", value: ({ effect }: ReconciliationItem) => isoTime(effect.createdAtMs) },
        { title: "problem", value: ({ effect }: ReconciliationItem) => effect.problem },
      ];
      for (const line of tableLines(items, columns, output.paint)) output.line(line);
    }
    return EXIT.OK;
  } finally {
    await session.close();
  }
}

export async function reconcileShow(context: CommandContext, effectId: string): Promise<number> {
  const { output } = context;
  const session = await openRecovery(context);
  try {
    const items = await itemsOf(session.recovery, null);
    const item = items.find(({ effect }) => effect.effectId === effectId);
    if (item === undefined) throw notOpen(effectId);
    output.data({ apiVersion: API_VERSION, type: "reconciliation-item", ...item });
    const { effect, evidence, dependants, forwardRecovery, undoUntilMs } = item;
    const pairs = [
      ["effect", effect.effectId],
      ["workflow", `${item.workflow}, revision ${item.revision}`],
      ["tool", `${effect.tool} (version ${effect.toolVersion})`],
      ["owner", effect.owner],
      ["state", `${effect.state}, waits for ${effect.waitsFor ?? "nobody"}`],
      ["problem", effect.problem],
      ["request", JSON.stringify(effect.request)],
      ["receipt", JSON.stringify(effect.receipt)],
      ["idempotency key", effect.idempotencyKey],
      ["undoable until", undoUntilMs === null ? null : isoTime(undoUntilMs)],
      ["instead", forwardRecovery],
      ["used by", dependants.map((one) => `${one.effectId} (${one.state})`).join(", ")],
    ] as const;
    for (const line of pairLines(pairs, output.paint)) output.line(line);
    for (const { atMs, event, why } of evidence) {
      output.line(`  ${isoTime(atMs)}  ${event}${why === null ? "" : `: ${printable(why)}`}`);
    }
    return EXIT.OK;
  } finally {
    await session.close();
  }
}

/** Exit code 6 while the effect, or its workflow, still waits. */
export async function reconcileResolve(
  context: CommandContext,
  effectId: string,
  options: {
    readonly kind: ResolutionKind;
    readonly actor: string;
    readonly note: string;
    readonly tools: readonly string[];
    readonly filesRoot?: string;
  },
): Promise<number> {
  const { output } = context;
  const session = await openRecovery({ ...options, ...context });
  try {
    const { kind, actor, note } = options;
    const said = { kind, actor, note };
    const effect = await session.recovery.resolve(effectId, said);
    output.data({ apiVersion: API_VERSION, type: "effect", ...effect });
    output.line(`${effect.effectId}  ${effect.state}`);
    return effect.waitsFor === null ? EXIT.OK : EXIT.UNRESOLVED;
  } finally {
    await session.close();
  }
}

const IN_RECOVERY = ["Frozen", "Compensating", "Reconciliation", "Recovered"] as const;

async function itemsOf(
  recovery: RecoveryCalls,
  workflow: string | null,
): Promise<readonly ReconciliationItem[]> {
  if (workflow !== null) return recovery.items(workflow);
  const items: ReconciliationItem[] = [];
  for (const { id } of await recovery.workflows(Number.POSITIVE_INFINITY, IN_RECOVERY)) {
    items.push(...(await recovery.items(id)));
  }
  return items.sort((one, other) => one.effect.createdAtMs - other.effect.createdAtMs);
}

function notOpen(effectId: string): AgentTxError {
  return new AgentTxError(
    "NOT_FOUND",
    `No workflow waits for effect ${effectId}. agenttx reconcile list shows what is open.`,
    { details: { effect: effectId } },
  );
}
