// Owns `agenttx explain`: the story of a transaction and the reason of each decision, from the audit
// journal alone (R10, C13).

import type { AuditEntry, RollbackDecision, Store } from "@agenttx/model";
import { AgentTxError } from "@agenttx/model";
import { explain as explainDecision } from "@agenttx/policy";
import { EXIT } from "../exit-codes.js";
import { API_VERSION, printable } from "../output.js";
import type { CommandContext } from "../program.js";
import { openExistingStore } from "../session.js";

const PAGE = 1000;
const VALUE_COLUMNS = 72;

/** One entry of the journal: its number and what the engine wrote. */
interface StoryEntry {
  readonly seq: number;
  readonly entry: Readonly<Record<string, unknown>>;
}

/** NOT_FOUND when the journal has no entry of this transaction. */
export async function explain(context: CommandContext, id: string): Promise<number> {
  const { output, dataDirectory } = context;
  const store = await openExistingStore(dataDirectory);
  try {
    const story = await readStory(store, id);
    if (story.length === 0) {
      throw new AgentTxError("NOT_FOUND", `The audit journal knows no transaction ${id}.`, {
        details: { transaction: id },
      });
    }
    output.data({ apiVersion: API_VERSION, type: "explain", transaction: id, entries: story });
    for (const { entry } of story) {
      const [first, ...rest] = linesOf(entry);
      if (first !== undefined) output.line(printable(first));
      for (const line of rest) output.line(`          ${printable(line)}`);
    }
    return EXIT.OK;
  } finally {
    await store.close();
  }
}

async function readStory(store: Store, id: string): Promise<StoryEntry[]> {
  const story: StoryEntry[] = [];
  for (;;) {
    const fromSeq = (story.at(-1)?.seq ?? 0) + 1;
    const page: AuditEntry[] = await store.readAudit(id, { fromSeq, limit: PAGE });
    for (const { seq, payload } of page) story.push({ seq, entry: parse(payload) });
    if (page.length < PAGE) return story;
  }
}

function parse(payload: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(payload).toString("utf8"));
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Shown as unreadable: the payload may have been erased on purpose.
  }
  return { k: "unreadable" };
}

/** The first line names the step and what happened; the others explain it. */
function linesOf(entry: Readonly<Record<string, unknown>>): string[] {
  const step = typeof entry.s === "number" ? `step ${String(entry.s).padStart(3)}` : "        ";
  switch (entry.k) {
    case "begin":
      return [`${step}  begin, agent ${String(entry.agentId)}`];
    case "step":
      return [
        `${step}  ${String(entry.t)} ${short(entry.a)}`,
        `answered ${short(entry.o)}`,
        ...(entry.c ? [`the agent said: ${short(entry.c)}`] : []),
      ];
    case "failed":
      return [`${step}  ${String(entry.t)} failed`, hintText(entry.hint)];
    case "decision":
      // Written by the engine from the policy's own answer.
      return [`${step}  decision`, ...explainDecision(entry.decision as RollbackDecision)];
    case "rewound":
      return [`${step}  rewound to before step ${String(entry.to)} (${String(entry.why)})`];
    case "effect":
      return [`${step}  effect of ${String(entry.t)}: ${String(entry.state)}${reason(entry)}`];
    case "frozen":
      return [`${step}  frozen, unresolved: ${short(entry.unresolved)}`];
    case "commit":
      return [`          committed, ${String(entry.steps)} steps`];
    case "abort":
      return [`          ended as ${String(entry.status)}: ${String(entry.reason)}`];
    default: {
      const { k, at: _at, s: _s, ...rest } = entry;
      return [`${step}  ${String(k)} ${short(rest)}`];
    }
  }
}

/** Why an effect changed and who said so, where the journal tells. */
function reason({ why, actor }: Readonly<Record<string, unknown>>): string {
  const by = typeof actor === "string" ? `, says ${actor}` : "";
  return `${by}${typeof why === "string" ? ` (${why})` : ""}`;
}

function hintText(hint: unknown): string {
  const text = typeof hint === "object" && hint !== null && "text" in hint ? hint.text : "";
  return String(text);
}

function short(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length <= VALUE_COLUMNS ? text : `${text.slice(0, VALUE_COLUMNS - 3)}...`;
}
