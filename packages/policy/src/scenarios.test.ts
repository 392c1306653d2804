// Goal: the decision order of the rules, R1-R9 and so profile classic (R11), told as stories.
// Method: every file in testdata/ is run against `decide` and a real graph; see
// testdata/README.md for the commands.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { initialCounters, recordSuccess } from "./counters.js";
import { decide } from "./decide.js";
import { DependencyGraph } from "./graph/dependency-graph.js";
import type { GraphReference } from "./graph/links.js";
import { DEFAULT_POLICY, resolvePolicy } from "./resolve-policy.js";

const TESTDATA = new URL("./testdata/", import.meta.url);

class Story {
  #policy = DEFAULT_POLICY;
  #counters = initialCounters();
  #next = 1;
  readonly #graph = new DependencyGraph();
  readonly #outputs = new Map<number, unknown>();

  /** Runs one command and returns what it prints. */
  run(line: string): string[] {
    const [command = "", rest = ""] = split(line, " ");
    switch (command) {
      case "policy":
        this.#policy = resolvePolicy(DEFAULT_POLICY, fieldsOf(rest));
        return [];
      case "ok":
        return this.#succeed(rest);
      case "fail":
        return this.#fail(rest);
      case "report":
        return this.#report(rest);
      case "counters":
        return [this.#showCounters()];
      default:
        throw new Error(`unknown command: ${line}`);
    }
  }

  #succeed(rest: string): string[] {
    const [call = "", output = ""] = split(rest, " -> ");
    const step = this.#begin(call);
    this.#outputs.set(step, JSON.parse(output));
    this.#graph.recordOutput(step, JSON.parse(output));
    this.#counters = recordSuccess(this.#counters, step);
    this.#next = step + 1;
    return [];
  }

  #fail(rest: string): string[] {
    const inputsEnd = rest.lastIndexOf("}") + 1;
    const step = this.#begin(rest.slice(0, inputsEnd));
    return this.#decide(step, step, rest.slice(inputsEnd));
  }

  #report(rest: string): string[] {
    const [step = "", blame = ""] = split(rest, " ");
    return this.#decide(Number(step), this.#next - 1, blame);
  }

  #begin(call: string): number {
    const [number = "", rest = ""] = split(call, " ");
    const [tool = "", json = ""] = split(rest, " ");
    const step = Number(number);
    expect(step, `the agent sends the expected step: ${call}`).toBe(this.#next);
    const written = JSON.parse(json) as Record<string, unknown>;
    const references: GraphReference[] = [];
    const inputs = Object.fromEntries(
      Object.entries(written).map(([inputPath, value]) => {
        const found = /^\$(\d+)\.(\w+)$/.exec(String(value));
        if (found === null) return [inputPath, value];
        const [, from = "", outputPath = ""] = found;
        references.push({ from: Number(from), outputPath, inputPath });
        const output = this.#outputs.get(Number(from)) as Record<string, unknown>;
        return [inputPath, output[outputPath]];
      }),
    );
    this.#graph.addStep({ step, tool, inputs, references });
    return step;
  }

  #decide(step: number, lastStep: number, blame: string): string[] {
    const { decision, counters } = decide({
      policy: this.#policy,
      counters: this.#counters,
      graph: this.#graph,
      step,
      lastStep,
      key: /\bkey=(\S+)/.exec(blame)?.[1] ?? null,
      keys: /\bkeys=(\S+)/.exec(blame)?.[1]?.split(","),
    });
    this.#counters = counters;
    this.#next = decision.nextStep;
    this.#graph.rewindTo(decision.rollbackToStep);
    const { rule, key, producer, budgetLeft } = decision.reason;
    const because = `(${rule}${key === null ? "" : ` key ${key}`}${producer === null ? "" : ` from ${producer}`})`;
    const left = Number(budgetLeft.toFixed(6));
    const target = `to ${decision.rollbackToStep} next ${decision.nextStep}`;
    expect(decision.contextReset).toBe(decision.strategy === "GLOBAL_RESET");
    return [`${decision.strategy} ${target} cost ${decision.replayCost} left ${left} ${because}`];
  }

  #showCounters(): string {
    const { failures, jumps, replayed, resets, furthestStep } = this.#counters;
    const counts = `failures ${JSON.stringify(failures)} jumps ${JSON.stringify(jumps)}`;
    return `${counts} replayed ${replayed} resets ${resets} furthest ${furthestStep}`;
  }
}

function split(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  if (at === -1) return [text, ""];
  return [text.slice(0, at), text.slice(at + separator.length)];
}

function fieldsOf(text: string): Record<string, number> {
  return Object.fromEntries(
    text.split(" ").map((field) => {
      const [name, value] = split(field, "=");
      return [name, Number(value)];
    }),
  );
}

/** A blank line ends a block once it has its expectations. */
function blocksOf(text: string): { commands: string[]; expected: string[] }[] {
  const blocks: { commands: string[]; expected: string[] }[] = [];
  let commands: string[] = [];
  let expected: string[] | null = null;
  for (const line of [...text.split("\n"), ""]) {
    if (line.startsWith("#")) continue;
    if (line === "----") expected = [];
    else if (line !== "") (expected ?? commands).push(line);
    else if (expected !== null) {
      blocks.push({ commands, expected });
      [commands, expected] = [[], null];
    }
  }
  expect(commands, "commands without expectations").toEqual([]);
  return blocks;
}

describe("scenarios", () => {
  const files = readdirSync(TESTDATA).filter((file) => file.endsWith(".txt"));

  it.each(files)("%s", (file) => {
    const story = new Story();
    const blocks = blocksOf(readFileSync(new URL(file, TESTDATA), "utf8"));
    expect(blocks.length).toBeGreaterThan(0);
    for (const { commands, expected } of blocks) {
      expect(commands.flatMap((line) => story.run(line))).toEqual(expected);
    }
  });
});
