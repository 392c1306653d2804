// Owns the words of each engine event in the timeline. Pure: where it stands and how it is painted is
// the timeline's.

import type { EngineEvent } from "@agenttx/engine";
import type { Style } from "../output.js";
import type { Symbols } from "./symbols.js";

/** How one event is drawn. */
export interface EventRow {
  readonly style: Style;
  readonly sign: keyof Symbols;
  readonly text: string;
  /** With step number and tool in front. */
  readonly step: boolean;
  /** Levels of indentation below the steps. */
  readonly depth: number;
  /** Set when the event itself tells its time; else it is measured from its start. */
  readonly tookMs: number | null;
}

/** What earlier lines told about the step. */
export interface EventContext {
  /** What the agent said before it called the step. */
  readonly said: string;
  /** The key that the last failure named, or "". */
  readonly failedKey: string;
}

type Kind = EngineEvent["kind"];
type Texts = Readonly<Partial<Record<Kind, Pick<EventRow, "style" | "sign" | "text">>>>;

/** Events of one effect or step that always read the same. */
const STEP_TEXTS: Texts = {
  "effect-resolved": { style: "green", sign: "success", text: "settled" },
  "effect-unresolved": {
    style: "yellow",
    sign: "warning",
    text: "could not be undone: waits for a person",
  },
  "effect-delivered": { style: "cyan", sign: "delivered", text: "delivered after the commit" },
  "effect-parked": { style: "yellow", sign: "warning", text: "could not be delivered: is kept" },
};

/** Events of the whole transaction that always read the same. */
const LINE_TEXTS: Texts = {
  frozen: { style: "yellow", sign: "frozen", text: "FROZEN  until the effects above are resolved" },
  unfrozen: { style: "green", sign: "begin", text: "no longer frozen" },
  committed: { style: "green", sign: "success", text: "COMMITTED" },
  conflict: { style: "red", sign: "failure", text: "CONFLICT  another transaction was first" },
};

/** The row of an event, or null for one that is not drawn. */
export function rowOf(event: EngineEvent, context: EventContext): EventRow | null {
  const plain = LINE_TEXTS[event.kind];
  if (plain !== undefined) return { ...plain, step: false, depth: 0, tookMs: null };
  const ofStep = STEP_TEXTS[event.kind];
  if (ofStep !== undefined) {
    const depth = event.kind === "effect-unresolved" || event.kind === "effect-resolved" ? 1 : 0;
    return { ...ofStep, step: true, depth, tookMs: null };
  }
  return varyingRow(event, context);
}

function varyingRow(event: EngineEvent, context: EventContext): EventRow | null {
  const line = (style: Style, sign: keyof Symbols, text: string): EventRow => {
    return { style, sign, text, step: false, depth: 0, tookMs: null };
  };
  switch (event.kind) {
    case "begin":
      return line("bold", "begin", `begin   transaction ${event.transaction}`);
    case "step-succeeded":
      return { ...line("green", "success", context.said), step: true };
    case "step-failed":
      return { ...line("red", "failure", failureText(event)), step: true };
    case "decision":
      return line("yellow", "rewind", decisionText(event, context.failedKey));
    case "compensation-finished":
      return undoRow(event);
    case "restored": {
      const { latencyMs } = event.data;
      const tookMs = typeof latencyMs === "number" ? latencyMs : null;
      return { ...line("dim", "restored", restoredText(event)), depth: 1, tookMs };
    }
    case "aborted":
      // Recovery says so with its own line.
      if (event.data.reason === "CRASH_RECOVERY") return null;
      return line("red", "failure", "ABORTED  nothing of it stays");
    case "recovered":
      return line("cyan", "restored", `recovered transaction ${event.transaction}`);
    default:
      return null;
  }
}

/** There is one event per effect, and one without an effect for the whole rollback. */
function undoRow(event: EngineEvent): EventRow | null {
  if (textOf(event.data.effectId) === "") return null;
  const state = textOf(event.data.state);
  const base = { step: true, depth: 1, tookMs: null } as const;
  if (state === "" || state === "compensated") {
    return { ...base, style: "cyan", sign: "undone", text: "undone" };
  }
  if (state === "absent") return { ...base, style: "cyan", sign: "undone", text: "never happened" };
  return { ...base, style: "yellow", sign: "warning", text: state };
}

function failureText(event: EngineEvent): string {
  const key = textOf(event.data.key);
  return `failed: ${textOf(event.data.category)}${key === "" ? "" : ` on ${key}`}`;
}

function decisionText(event: EngineEvent, key: string): string {
  const strategy = textOf(event.data.strategy);
  const target = Number(event.data.rollbackToStep ?? 0);
  if (strategy === "ABORT") return "ABORT: everything is taken back";
  if (target === 0) return `${strategy}: back to the beginning`;
  const why = strategy === "DEPENDENCY_JUMP" && key !== "" ? `, which produced ${key}` : "";
  return `${strategy} to step ${target}${why}: steps ${target} to ${event.step} are taken back`;
}

function restoredText(event: EngineEvent): string {
  const reverted = Number(event.data.writesReverted ?? 0);
  return `state restored, ${reverted} ${reverted === 1 ? "write" : "writes"} reverted; in all`;
}

/** Data of an event as text; "" when it is not there. */
export function textOf(value: string | number | boolean | null | undefined): string {
  return value === null || value === undefined ? "" : String(value);
}
