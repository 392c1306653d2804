// Owns the live timeline of a run: one line per event, moved right with each rewind.
//
//   T1 A line is never longer than the terminal; without one, 100 columns.
//   T2 Every line can be read without colour and without its sign.
//   T3 Only a terminal sees the line of the running step; a log has finished lines alone.

import type { Paint, Style } from "../output.js";
import { printable } from "../output.js";
import type { AgentLine, EngineLine, LookupLine, OutcomeLine, RunLine } from "../run/events.js";
import { width } from "../table.js";
import { formatMs } from "./duration.js";
import type { Symbols } from "./symbols.js";

const COLUMNS_DEFAULT = 100;
const TOOL_COLUMNS = 18;
const INDENT_MAX = 4;

const LOOKUP_TEXT: Readonly<Record<string, string>> = {
  landed: "asked: it had happened",
  absent: "asked: it had not happened",
  unknown: "asked: cannot tell",
  error: "asked: no answer",
};

export interface TimelineOptions {
  readonly write: (text: string) => void;
  readonly paint: Paint;
  readonly symbols: Symbols;
  /** Default 100. */
  readonly columns?: number;
  /** The line of the running step is drawn and replaced. Default false. */
  readonly live?: boolean;
}

/** Draws run lines in the order they come. */
export class Timeline {
  readonly #options: TimelineOptions;
  readonly #columns: number;
  readonly #startedMs = new Map<string, number>();
  #rewinds = 0;
  #agent: AgentLine | null = null;
  #transient = false;

  constructor(options: TimelineOptions) {
    this.#options = options;
    this.#columns = Math.max(40, Math.min(options.columns ?? COLUMNS_DEFAULT, 160));
  }

  add(line: RunLine): void {
    if (line.type === "event") this.#event(line);
    else if (line.type === "outcome") this.#outcome(line);
    else if (line.type === "notice") this.#row("cyan", this.#sign("begin"), line.text, "");
    else if (line.type === "lookup") this.#lookup(line);
    else this.#agentDecides(line);
  }

  #agentDecides(line: AgentLine): void {
    this.#agent = line;
    if (this.#options.live !== true) return;
    const { symbols, paint, write } = this.#options;
    const text = `${this.#indent()}${symbols.running} ${line.step}  ${line.tool}`;
    write(paint("dim", this.#fit(text, this.#columns)));
    this.#transient = true;
  }

  #event(event: EngineLine): void {
    const activity = event.kind.replace(/-(started|finished|succeeded|failed)$/, "");
    const key = `${activity} ${event.step} ${textOf(event.data.effectId)}`;
    if (event.kind.endsWith("-started")) {
      this.#startedMs.set(key, event.elapsedMs);
      return;
    }
    const startedMs = this.#startedMs.get(key);
    const tookMs = startedMs === undefined ? null : event.elapsedMs - startedMs;
    this.#startedMs.delete(key);
    this.#draw(event, tookMs);
  }

  #draw(event: EngineLine, tookMs: number | null): void {
    const took = tookMs === null ? "" : formatMs(tookMs);
    const data = (name: string) => textOf(event.data[name]);
    switch (event.kind) {
      case "begin":
        this.#row("bold", this.#sign("begin"), `begin   transaction ${event.transaction}`, "");
        return;
      case "step-succeeded":
        this.#step("green", "success", event, this.#sayOf(event.step), took);
        return;
      case "step-failed":
        this.#step("red", "failure", event, failureText(data("category"), data("key")), took);
        return;
      case "decision":
        this.#row("yellow", this.#sign("rewind"), decisionText(event), "");
        return;
      case "compensation-finished":
        // One event per effect, and one without an effect for the whole rollback.
        if (data("effectId") !== "") this.#undo(event, took);
        return;
      case "effect-unresolved":
        this.#step("yellow", "warning", event, "could not be undone, waits for a person", took, 1);
        return;
      case "effect-resolved":
        this.#step("green", "success", event, "settled", took, 1);
        return;
      case "effect-delivered":
        this.#step("cyan", "delivered", event, "delivered after the commit", took);
        return;
      case "effect-parked":
        this.#step("yellow", "warning", event, "could not be delivered, is kept", took);
        return;
      case "frozen":
        this.#row(
          "yellow",
          this.#sign("frozen"),
          "FROZEN  until the effects above are resolved",
          "",
        );
        return;
      case "unfrozen":
        this.#row("green", this.#sign("begin"), "no longer frozen", "");
        return;
      case "restored":
        this.#row("dim", `  ${this.#sign("restored")}`, restoredText(event), took);
        return;
      case "committed":
        this.#row("green", this.#sign("success"), "COMMITTED", took);
        return;
      case "conflict":
        this.#row("red", this.#sign("failure"), "CONFLICT  another transaction was first", took);
        return;
      case "aborted":
        this.#row("red", this.#sign("failure"), "ABORTED  nothing of it stays", took);
        return;
      case "recovered":
        this.#row(
          "cyan",
          this.#sign("restored"),
          `recovered transaction ${event.transaction}`,
          took,
        );
        return;
      default:
        return;
    }
  }

  #undo(event: EngineLine, took: string): void {
    const state = textOf(event.data.state);
    const done = state === "" || state === "compensated" || state === "absent";
    const text = done ? (state === "absent" ? "never happened" : "undone") : state;
    this.#step(done ? "cyan" : "yellow", done ? "undone" : "warning", event, text, took, 1);
  }

  #lookup({ step, tool, answer, durationMs }: LookupLine): void {
    const text = LOOKUP_TEXT[answer] ?? "asked: no answer";
    this.#step("cyan", "told", { step, tool }, text, formatMs(durationMs), 1);
  }

  #outcome(outcome: OutcomeLine): void {
    if (outcome.status === "SUCCESS") return;
    if (outcome.hint !== null) {
      this.#row("bold", this.#sign("told"), `the agent is told: ${outcome.hint}`, "");
    }
    if (outcome.status === "ROLLBACK_TRIGGERED") this.#rewinds += 1;
  }

  #sayOf(step: number): string {
    return this.#agent?.step === step ? this.#agent.say : "";
  }

  #sign(name: keyof Symbols): string {
    return this.#options.symbols[name];
  }

  #indent(): string {
    return "  ".repeat(1 + Math.min(this.#rewinds, INDENT_MAX));
  }

  #step(
    style: Style,
    sign: keyof Symbols,
    event: Pick<EngineLine, "step" | "tool">,
    text: string,
    took: string,
    depth = 0,
  ): void {
    const number = event.step > 0 ? String(event.step).padStart(2) : "  ";
    const tool = (event.tool ?? "").padEnd(TOOL_COLUMNS);
    this.#row(
      style,
      `${"  ".repeat(depth)}${this.#sign(sign)}`,
      `${number}  ${tool}  ${text}`,
      took,
    );
  }

  /** `sign` is painted in the style, `text` is cut to fit, `took` stands at the right edge. */
  #row(style: Style, sign: string, text: string, took: string): void {
    const { paint, write } = this.#options;
    if (this.#transient) write("\r\u001b[2K");
    this.#transient = false;
    const head = `${this.#indent()}${sign} `;
    const room = this.#columns - width(head) - (took === "" ? 0 : took.length + 2);
    const body = this.#fit(printable(text).trimEnd(), room);
    const fill = took === "" ? "" : " ".repeat(Math.max(2, room - width(body) + 2));
    write(`${paint(style, head)}${body}${fill}${paint("dim", took)}\n`);
  }

  #fit(text: string, room: number): string {
    if (width(text) <= room) return text;
    const { ellipsis } = this.#options.symbols;
    const characters = [...text];
    while (characters.length > 0 && width(characters.join("")) > room - ellipsis.length) {
      characters.pop();
    }
    return `${characters.join("").trimEnd()}${ellipsis}`;
  }
}

function textOf(value: string | number | boolean | null | undefined): string {
  return value === null || value === undefined ? "" : String(value);
}

function failureText(category: string, key: string): string {
  return `failed: ${category}${key === "" ? "" : ` on ${key}`}`;
}

function decisionText(event: EngineLine): string {
  const strategy = textOf(event.data.strategy);
  const target = Number(event.data.rollbackToStep ?? 0);
  if (strategy === "ABORT") return "ABORT: everything is taken back";
  if (target === 0) return `${strategy}: back to the beginning`;
  return `${strategy} to step ${target}: steps ${target} to ${event.step} are taken back`;
}

function restoredText(event: EngineLine): string {
  const reverted = Number(event.data.writesReverted ?? 0);
  return `state restored, ${reverted} ${reverted === 1 ? "write" : "writes"} reverted`;
}
