// Owns the scenario language: text in, text out. A file holds cases; each is a list of commands, a
// line `----`, and what the engine answered. One command a line:
//
//   begin [depth=N] [resets=N] [factor=N]
//   step NAME [effect=book|mail|none] [out=KEY:VALUE,…] [in=KEY:VALUE|KEY:@STEP.KEY,…] [fail[=KEY]]
//   report STEP [key=KEY]      a step that worked turns out wrong (R9a)
//   rollback STEP | commit | abort | crash | crash resume
//
// An answer line says what happened to the transaction, then ` | ` and what happened outside.
import { createEngine, defineTool, type Engine, type ToolShape } from "@agenttx/engine";
import type { JsonObject, StepOutcome, Store } from "@agenttx/model";
import { fakeClock } from "@agenttx/testkit";
import { z } from "zod";

type Settings = Readonly<Record<string, string>>;

const args = z.strictObject({
  name: z.string(),
  out: z.record(z.string(), z.json()).optional(),
  in: z.record(z.string(), z.json()).optional(),
  fail: z.string().optional(),
});

type Args = z.infer<typeof args>;

class Outside {
  readonly #log: string[] = [];
  readonly #standing = new Map<string, string>();

  tools(): readonly ToolShape[] {
    const run = ({ name, out = {}, fail }: Args): JsonObject => {
      if (fail === "-") throw new Error("it did not work");
      if (fail !== undefined) {
        throw new Error(
          `insert violates foreign key constraint: Key (${fail})=(0) is not present in table "t"`,
        );
      }
      return { ...out, [`${name}_done`]: true };
    };
    const none = defineTool({
      name: "none",
      schema: args,
      effect: "read-only",
      scope: "store",
      retry: 0,
      execute: (given) => run(given),
    });
    const book = defineTool({
      name: "book",
      schema: args,
      effect: "reversible",
      execute: (given, { idempotencyKey }) => {
        const output = run(given);
        this.#log.push(`do ${given.name}`);
        this.#standing.set(idempotencyKey, given.name);
        return output;
      },
      compensate: (call, { idempotencyKey }) => {
        if (this.#standing.delete(idempotencyKey)) this.#log.push(`undo ${call.args.name}`);
      },
      lookup: (_call, { idempotencyKey }) =>
        this.#standing.has(idempotencyKey)
          ? { status: "landed" as const }
          : { status: "absent" as const, final: true },
    });
    const mail = defineTool({
      name: "mail",
      schema: args,
      effect: "irreversible",
      irreversible: "staged",
      execute: (given) => {
        this.#log.push(`send ${given.name}`);
        return {};
      },
    });
    return [none, book, mail];
  }

  /** What happened since the last question. */
  take(): string {
    return this.#log.splice(0).join(", ");
  }
}

/** Runs the commands of one case on an empty store. */
export async function runScenario(commands: readonly string[], store: Store): Promise<string[]> {
  const scenario = new Scenario(store);
  const answers: string[] = [];
  for (const line of commands) answers.push(await scenario.run(line));
  return answers;
}

class Scenario {
  readonly #store: Store;
  readonly #outside = new Outside();
  readonly #clock = fakeClock();
  #engine: Engine;
  #transaction = "";

  constructor(store: Store) {
    this.#store = store;
    this.#engine = this.#start();
  }

  async run(line: string): Promise<string> {
    const [command = "", ...words] = line.trim().split(/\s+/);
    const answer = await this.#answer(command, words);
    const outside = this.#outside.take();
    return outside === "" ? answer : `${answer} | ${outside}`;
  }

  async #answer(command: string, words: readonly string[]): Promise<string> {
    const settings = readSettings(words);
    switch (command) {
      case "begin":
        return this.#begin(settings);
      case "crash":
        return this.#crash(words.includes("resume"));
      case "step":
        return this.#step(words[0] ?? "", settings);
      case "report": {
        const { key } = settings;
        const failure = { text: "it was wrong", ...(key === undefined ? {} : { key }) };
        return told(await (await this.#tx()).reportFailure(Number(words[0]), failure));
      }
      case "rollback": {
        const outcome = await (await this.#tx()).rollback(Number(words[0]));
        return `${outcome.status} next=${outcome.nextStep}`;
      }
      case "commit": {
        const outcome = await (await this.#tx()).commit();
        return `COMMITTED steps=${outcome.stepsCommitted}`;
      }
      case "abort":
        return (await (await this.#tx()).abort()).status;
      default:
        throw new Error(`The scenario has an unknown command: ${command}`);
    }
  }

  async #begin(settings: Settings): Promise<string> {
    const number = (name: string, fallback: number): number => Number(settings[name] ?? fallback);
    const tx = await this.#engine.begin({
      policy: {
        maxLocalDepth: number("depth", 2),
        maxGlobalResets: number("resets", 1),
        replayBudgetFactor: number("factor", 2),
      },
    });
    this.#transaction = tx.id;
    return "ACTIVE next=1";
  }

  async #step(name: string, settings: Settings): Promise<string> {
    const given = {
      name,
      ...("out" in settings ? { out: pairs(settings.out ?? "") } : {}),
      ...("in" in settings ? { in: pairs(settings.in ?? "") } : {}),
      ...("fail" in settings ? { fail: settings.fail === "" ? "-" : settings.fail } : {}),
    };
    const tx = await this.#tx();
    const argumentsJson = JSON.stringify(given);
    return told(await tx.step(settings.effect ?? "none", {}, { argumentsJson }));
  }

  /** Handles of the dead process are stale; the next one finds everything on disk. */
  async #crash(resume: boolean): Promise<string> {
    await this.#store.reopen();
    this.#engine = this.#start();
    await this.#engine.recover({ resume });
    const view = await this.#engine.get(this.#transaction);
    return `${view.status} next=${view.nextStep}`;
  }

  #start(): Engine {
    return createEngine({
      store: this.#store,
      tools: this.#outside.tools(),
      clock: this.#clock,
    });
  }

  #tx() {
    return this.#engine.resume(this.#transaction);
  }
}

function told(outcome: StepOutcome): string {
  switch (outcome.status) {
    case "SUCCESS":
      return `SUCCESS step=${outcome.step} next=${outcome.nextStep}`;
    case "ROLLBACK_TRIGGERED":
      return `${outcome.strategy} to=${outcome.rollbackToStep} next=${outcome.nextStep} undone=${outcome.compensationsRun}`;
    case "FAILED":
      return `${outcome.transactionStatus} ${outcome.abortReason} undone=${outcome.compensationsRun}`;
  }
}

function readSettings(words: readonly string[]): Settings {
  const settings: Record<string, string> = {};
  for (const word of words) {
    const [name = "", ...value] = word.split("=");
    settings[name] = value.join("=");
  }
  return settings;
}

/** `id:7,customer:@2.id` -> `{ id: 7, customer: "${steps.2.id}" }`. */
function pairs(text: string): JsonObject {
  const found: Record<string, string | number> = {};
  for (const pair of text.split(",")) {
    const [key = "", value = ""] = pair.split(":");
    if (value.startsWith("@")) found[key] = `\${steps.${value.slice(1)}}`;
    else found[key] = /^\d+$/.test(value) ? Number(value) : value;
  }
  return found;
}
