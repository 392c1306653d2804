// Goal: the timeline can be read without colour and signs, fits its columns, and says what happened.

import { describe, expect, it } from "vitest";
import type { RunLine } from "../run/events.js";
import { width } from "../table.js";
import { formatMs } from "./duration.js";
import { symbolsFor } from "./symbols.js";
import { Timeline } from "./timeline.js";

const ASCII = symbolsFor({}, "linux");

function draw(
  lines: readonly RunLine[],
  options: { columns?: number; live?: boolean } = {},
): string {
  let text = "";
  const timeline = new Timeline({
    write: (more) => {
      text += more;
    },
    paint: (_style, plain) => plain,
    symbols: ASCII,
    ...options,
  });
  for (const line of lines) timeline.add(line);
  return text;
}

let at = 0;
function event(kind: string, step: number, tool: string | null, data = {}): RunLine {
  at += 5;
  // The kind is one of the engine's; a text keeps the table of the test short.
  return {
    type: "event",
    kind,
    transaction: "tx",
    step,
    tool,
    atMs: 0,
    data,
    elapsedMs: at,
  } as RunLine;
}

function agent(step: number, tool: string, say: string): RunLine {
  return { type: "agent", elapsedMs: at, step, tool, say, alternative: 0 };
}

describe("Timeline", () => {
  it("draws a finished step on one line with what the agent said and how long it took", () => {
    const text = draw([
      agent(1, "carrier.book", "Book it."),
      event("step-started", 1, "carrier.book"),
      event("step-succeeded", 1, "carrier.book"),
    ]);
    expect(text).toMatch(/^ {2}\+ {2}1 {2}carrier\.book +Book it\. +5\.0 ms\n$/);
  });

  it("says in words what failed and what was undone", () => {
    const text = draw([
      event("step-failed", 5, "orders.insert", {
        category: "foreign_key_violation",
        key: "customer_id",
      }),
      event("compensation-finished", 3, "carrier.book", { effectId: "e3", state: "compensated" }),
      event("compensation-finished", 2, "stock.take", { effectId: "e2", state: "unresolved" }),
      event("restored", 2, null, { writesReverted: 1 }),
    ]);
    expect(text).toContain("failed: foreign_key_violation on customer_id");
    expect(text).toMatch(/3 {2}carrier\.book +undone/);
    expect(text).toMatch(/2 {2}stock\.take +unresolved/);
    expect(text).toContain("1 write reverted");
  });

  it.each([40, 60, 100])("keeps every line within %i columns", (columns) => {
    const long = "言葉 words ".repeat(40);
    const text = draw(
      [
        agent(1, "a".repeat(90), long),
        event("step-succeeded", 1, "a".repeat(90)),
        { type: "notice", elapsedMs: 1, text: long },
      ],
      { columns },
    );
    for (const line of text.split("\n")) expect(width(line)).toBeLessThanOrEqual(columns);
  });

  it("never cuts a hint: it goes on in the next line", () => {
    const hint = `Hint: ${"the column is missing ".repeat(6).trim()}.`;
    const outcome = { type: "outcome", status: "ROLLBACK_TRIGGERED", step: 1, hint } as RunLine;
    const text = draw([outcome], { columns: 60 });
    expect(text.replace(/\s+/g, " ")).toContain(hint);
    for (const line of text.split("\n")) expect(width(line)).toBeLessThanOrEqual(60);
  });

  it("draws the running step only for a terminal", () => {
    expect(draw([agent(1, "slow", "")])).toBe("");
    expect(draw([agent(1, "slow", "")], { live: true })).toContain("slow");
  });

  it("cannot be moved by what a plan says", () => {
    const text = draw([
      agent(1, "t", "\u001b[2J\rgone"),
      event("step-succeeded", 1, "t\u001b]0;title\u0007"),
    ]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
    expect(text).not.toMatch(/[\u001b\r\u0007]/);
  });
});

describe("formatMs", () => {
  it.each([
    [0.4249, "0.42 ms"],
    [8.12, "8.1 ms"],
    [412.4, "412 ms"],
    [3210, "3.2 s"],
    [125_000, "2 min 5 s"],
  ])("writes %d as %s", (ms, text) => {
    expect(formatMs(ms)).toBe(text);
  });
});

describe("symbolsFor", () => {
  it("uses Unicode only where the locale or the terminal promises it", () => {
    expect(symbolsFor({ LANG: "en_GB.UTF-8" }, "linux").success).toBe("✔");
    expect(symbolsFor({ LANG: "C" }, "linux").success).toBe("+");
    expect(symbolsFor({ LANG: "en_GB.UTF-8", TERM: "linux" }, "linux").success).toBe("+");
    expect(symbolsFor({}, "win32").success).toBe("+");
  });
});
