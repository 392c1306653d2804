// Goal: the scenario files: given steps and failures, exactly these decisions and these effects.
// Run with UPDATE_SCENARIOS=1 to write the answers that the engine gives now, and read the diff.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { openMemoryStore } from "@agenttx/testkit";
import { describe, expect, it } from "vitest";
import { runScenario } from "./scenario.js";

const DIRECTORY = new URL("./scenarios/", import.meta.url);
const RULE = "----";

interface Case {
  readonly title: string;
  readonly commands: readonly string[];
  readonly expected: readonly string[];
}

function readCases(text: string): Case[] {
  return text
    .trim()
    .split(/\n{2,}/)
    .map((block) => {
      const lines = block.split("\n");
      const rule = lines.indexOf(RULE);
      const title = lines[0]?.replace(/^# /, "") ?? "";
      const commands = lines.slice(1, rule === -1 ? undefined : rule);
      return { title, commands, expected: rule === -1 ? [] : lines.slice(rule + 1) };
    });
}

for (const file of readdirSync(DIRECTORY).filter((name) => name.endsWith(".txt"))) {
  describe(file, () => {
    const url = new URL(file, DIRECTORY);
    const cases = readCases(readFileSync(url, "utf8"));
    if (process.env.UPDATE_SCENARIOS === "1") {
      it("is written anew", async () => {
        const blocks: string[] = [];
        for (const { title, commands } of cases) {
          const answers = await runScenario(commands, openMemoryStore());
          blocks.push([`# ${title}`, ...commands, RULE, ...answers].join("\n"));
        }
        writeFileSync(url, `${blocks.join("\n\n")}\n`);
      });
      return;
    }
    it.each(cases)("$title", async ({ commands, expected }) => {
      expect(await runScenario(commands, openMemoryStore())).toEqual(expected);
    });
  });
}
