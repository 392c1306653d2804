// Owns the story of a workflow from the audit alone (C13): what each revision did, next to the
// decisions of its recoveries. No tool and no model is called; replay runs the recorded events
// through the same pure machine again and compares.

import type { HistoryEntry, HistoryStep } from "@agenttx/engine";
import { advanceRecovery, type RecoveryEvent, type WorkflowRecovery } from "@agenttx/ledger";
import type { RecoveryCore } from "./core.js";
import { auditEntries, type RecordedEvent, readWorkflowEvent } from "./workflow-audit.js";
import type { RevisionEntry, WorkflowRecord } from "./workflow-record.js";
import { nameOf } from "./workflow-store.js";

export interface RevisionStory extends RevisionEntry {
  readonly history: readonly HistoryEntry[];
}

export interface WorkflowStory {
  readonly workflow: string;
  readonly revisions: readonly RevisionStory[];
  /** Every decision about the workflow, in order, with actor, reason and basis. */
  readonly events: readonly RecordedEvent[];
}

/** The failed execution stands next to the new revision (C9). */
export async function explainWorkflow(
  core: RecoveryCore,
  record: WorkflowRecord,
): Promise<WorkflowStory> {
  const revisions: RevisionStory[] = [];
  const events: RecordedEvent[] = [];
  for (const entry of record.revisions) {
    const name = nameOf(record, entry);
    const history = await core.engine.history(entry.transaction, name);
    revisions.push({ ...entry, history });
    for await (const { seq, entry: raw } of auditEntries(core.store, name)) {
      const event = readWorkflowEvent(seq, entry.transaction, raw);
      if (event !== null) events.push(event);
    }
  }
  return { workflow: record.workflow, revisions, events };
}

/** A recorded receipt: what a step was asked and what it answered. */
export interface Fact extends Pick<HistoryStep, "step" | "tool" | "arguments" | "output"> {
  readonly revision: number;
  readonly effectId: string | null;
}

export interface WorkflowReplay {
  readonly workflow: string;
  /** Every recorded change of state, with the state that the machine gives for it. */
  readonly transitions: readonly {
    readonly event: string;
    readonly recorded: string;
    readonly replayed: string;
  }[];
  /** The machine came to every recorded state again. */
  readonly consistent: boolean;
  /** Steps that stand in the newest revision, those it inherited included. */
  readonly facts: readonly Fact[];
  /** Last recorded state of every effect, by effect id. */
  readonly effects: Readonly<Record<string, string>>;
}

export async function replayWorkflow(
  core: RecoveryCore,
  record: WorkflowRecord,
): Promise<WorkflowReplay> {
  const story = await explainWorkflow(core, record);
  const transitions = replayEvents(record.workflow, story.events);
  return {
    workflow: record.workflow,
    transitions,
    consistent: transitions.every(({ recorded, replayed }) => recorded === replayed),
    facts: factsOf(story),
    effects: effectStates(story),
  };
}

function replayEvents(workflow: string, events: readonly RecordedEvent[]) {
  let machine: WorkflowRecovery = {
    workflow,
    state: "Running",
    revision: 1,
    owner: "",
    fencingToken: 1n,
    request: null,
    changedAtMs: 0,
  };
  const transitions: { event: string; recorded: string; replayed: string }[] = [];
  for (const event of events) {
    const input = machineEvent(event);
    if (input === null) continue;
    const moved = advanceRecovery(machine, input, event.atMs);
    if (moved.ok) machine = moved.record;
    const replayed = moved.ok ? machine.state : moved.rejection.code;
    transitions.push({ event: event.event, recorded: event.state, replayed });
  }
  return transitions;
}

/** What the machine was told, from the recorded basis of the decision; null: it was not asked. */
function machineEvent({
  event,
  actor,
  why,
  data,
  state,
  revision,
}: RecordedEvent): RecoveryEvent | null {
  switch (event) {
    case "frozen":
      return { type: "request-recovery", actor, reason: why };
    case "classified": {
      const count = (name: string): number => {
        const list: unknown = typeof data === "object" ? Reflect.get(data ?? {}, name) : [];
        return Array.isArray(list) ? list.length : 0;
      };
      const undoable = count("undo") + count("drop");
      return { type: "classify", undoable, others: count("lookUp") + count("cannot") };
    }
    case "compensated":
    case "reconciled": {
      const open: unknown = typeof data === "object" ? Reflect.get(data ?? {}, "open") : [];
      // Whether the invariants held is what the recorded state says; how many were open is data.
      const invariantsHold = state === "Recovered";
      return { type: event, open: Array.isArray(open) ? open.length : 0, invariantsHold };
    }
    case "resumed":
      return { type: "resume", revision };
    default:
      return null;
  }
}

function factsOf({ revisions }: WorkflowStory): readonly Fact[] {
  const facts: Fact[] = [];
  let upTo = Number.POSITIVE_INFINITY;
  for (let entry = revisions.at(-1); entry !== undefined; ) {
    const { revision, history, base } = entry;
    const steps = history.filter((one): one is HistoryStep => one.kind === "step");
    const own = steps.filter(({ step, undoneBy }) => {
      // The end of a replaced revision takes its state, not the steps that were carried over.
      const stands = undoneBy === null || isReplacement(history, undoneBy);
      return stands && step <= upTo;
    });
    facts.unshift(
      ...own.map(({ step, tool, arguments: args, output, effectId }) => {
        return { revision, step, tool, arguments: args, output, effectId };
      }),
    );
    if (base === null) return facts;
    upTo = base.step;
    entry = revisions[base.revision - 1];
  }
  return facts;
}

function isReplacement(history: readonly HistoryEntry[], seq: number): boolean {
  const entry = history.find((one) => one.seq === seq);
  return entry?.kind === "aborted" && entry.note.endsWith("SUPERSEDED");
}

function effectStates({ revisions }: WorkflowStory): Readonly<Record<string, string>> {
  const states = new Map<string, string>();
  for (const { history } of revisions) {
    for (const entry of history) {
      if (entry.kind === "effect") states.set(entry.effectId, entry.state);
      // A receipt is in its step's entry: that one says that the effect was confirmed.
      if (entry.kind === "step" && entry.effectId !== null) states.set(entry.effectId, "confirmed");
    }
  }
  return Object.fromEntries(states);
}
