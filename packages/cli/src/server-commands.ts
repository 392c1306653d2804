// Owns the arguments and options of the commands about a server: serve, config, token. The flags of
// `serve` are made from the schema of its settings, so that they cannot drift from it.

import type { SettingFacts } from "@agenttx/server/settings";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "./program.js";

export interface Building {
  readonly program: Command;
  /** Adds what every command has. */
  readonly common: (command: Command) => Command;
  /** Runs a command and sets the exit code. */
  readonly act: (
    command: Command,
    run: (context: CommandContext) => Promise<number>,
  ) => Promise<void>;
  readonly collect: (value: string, before: readonly string[]) => string[];
}

/** `facts` may be empty when neither serve nor config is called and no help is asked for. */
export function addServerCommands(building: Building, facts: readonly SettingFacts[]): void {
  const { program, common, act } = building;
  addSettings(common(program.command("serve")), facts)
    .description("serve the engine over gRPC and HTTP")
    .action((_options, command: Command) =>
      act(command, async (context) =>
        (await import("./commands/serve.js")).serve(context, given(command)),
      ),
    );
  addSettings(common(program.command("config")), facts)
    .description("print each setting of serve, its value and where it comes from")
    .action((_options, command: Command) =>
      act(command, async (context) =>
        (await import("./commands/config.js")).config(context, given(command)),
      ),
    );
  addTokens(building);
}

function addSettings(command: Command, facts: readonly SettingFacts[]): Command {
  command.addOption(
    new Option("--config <file>", "settings as TOML; flags and environment are stronger").env(
      "AGENTTX_CONFIG",
    ),
  );
  for (const { flag, kind, description, fallback, environment } of facts) {
    const takes = kind === "switch" ? "[true|false]" : kind === "list" ? "<a,b>" : "<value>";
    const usual = fallback === undefined || String(fallback) === "" ? "" : `; default ${fallback}`;
    command.option(`${flag} ${takes}`, `${description}${usual} (${environment})`);
  }
  return command;
}

/** What stood on the command line, by setting name; what did not is left to weaker sources. */
function given(command: Command): Record<string, unknown> {
  const { json, color, quiet, verbose, ...rest } = command.opts<Record<string, unknown>>();
  return rest;
}

function addTokens({ program, common, act, collect }: Building): void {
  const token = program.command("token").description("bearer tokens of a server");
  const withFile = (command: Command) =>
    common(command).addOption(
      new Option("--tokens-file <file>", "the file that the server reads")
        .env("AGENTTX_TOKENS_FILE")
        .makeOptionMandatory(),
    );
  withFile(token.command("create"))
    .description("make a token; it is shown once, the file keeps its hash")
    .requiredOption("--name <name>", "who will have it")
    .option("--tenant <name>", "whose transactions it sees", "")
    .addOption(
      new Option(
        "--scope <scope>",
        "run, operate or read; may be given several times; default: all",
      )
        .argParser(scopeCollector(collect))
        .default([]),
    )
    .option(
      "--tool <name>",
      "a tool it may run; may be given several times; default: all",
      collect,
      [],
    )
    .option("--expires <time>", "30d, 12h, 5m or a date")
    .action((options, command: Command) =>
      act(command, async (context) =>
        (await import("./commands/token.js")).createToken(context, options),
      ),
    );
  withFile(token.command("list"))
    .description("list tokens, without the tokens themselves")
    .action((options, command: Command) =>
      act(command, async (context) =>
        (await import("./commands/token.js")).listTokens(context, options),
      ),
    );
  withFile(token.command("revoke"))
    .description("revoke by name; running servers notice within a second or two")
    .requiredOption("--name <name>", "whose token")
    .action((options, command: Command) =>
      act(command, async (context) =>
        (await import("./commands/token.js")).revokeToken(context, options),
      ),
    );
}

const SCOPES = ["run", "operate", "read"];

function scopeCollector(collect: Building["collect"]) {
  return (value: string, before: readonly string[]): string[] => {
    if (!SCOPES.includes(value)) throw new InvalidArgumentError(`give ${SCOPES.join(", ")}`);
    return collect(value, before);
  };
}
