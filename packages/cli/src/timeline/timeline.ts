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
import { rowOf, textOf } from "./event-text.js";
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
  #failedKey = "";
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
    write(paint("dim", this.#fit(printable(text), this.#columns)));
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

  #draw(event: EngineLine, measuredMs: number | null): void {
    if (event.kind === "step-failed") this.#failedKey = textOf(event.data.key);
    const row = rowOf(event, { said: this.#saidOf(event.step), failedKey: this.#failedKey });
    if (row === null) return;
    const tookMs = row.tookMs ?? measuredMs;
    const took = tookMs === null ? "" : formatMs(tookMs);
    if (row.step) this.#step(row.style, row.sign, event, row.text, took, row.depth);
    else this.#row(row.style, `${"  ".repeat(row.depth)}${this.#sign(row.sign)}`, row.text, took);
  }

  #lookup({ step, tool, answer, durationMs }: LookupLine): void {
    const text = LOOKUP_TEXT[answer] ?? "asked: no answer";
    this.#step("cyan", "told", { step, tool }, text, formatMs(durationMs), 1);
  }

  #outcome(outcome: OutcomeLine): void {
    if (outcome.status === "SUCCESS") return;
    if (outcome.hint !== null) {
      this.#told(`the agent is told: ${printable(outcome.hint)}`);
    }
    if (outcome.status === "ROLLBACK_TRIGGERED") this.#rewinds += 1;
  }

  /** A hint is never cut: what does not fit goes on in the next line. */
  #told(text: string): void {
    const room = this.#columns - width(this.#indent()) - 2;
    let line = "";
    let sign = this.#sign("told");
    const flush = () => {
      this.#row("bold", sign, line, "");
      sign = " ".repeat(sign.length);
      line = "";
    };
    for (const word of text.split(" ")) {
      if (line !== "" && width(line) + 1 + width(word) > room) flush();
      line = line === "" ? word : `${line} ${word}`;
    }
    flush();
  }

  #saidOf(step: number): string {
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
    write(`${paint(style, head)}${body}${fill}${took === "" ? "" : paint("dim", took)}\n`);
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
