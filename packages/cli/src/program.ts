// Owns the commands, their arguments and options. What a command does stands in commands/, loaded
// when it is called.

import { readFileSync } from "node:fs";
import { AgentTxError } from "@agenttx/model";
import type { SettingFacts } from "@agenttx/server/settings";
import { Command, Help, InvalidArgumentError, Option } from "commander";
import type { Output } from "./output.js";
import { createOutput } from "./output.js";
import { addRecoveryCommands } from "./recovery-commands.js";
import type { ServerOptions } from "./remote.js";
import { addServerCommands, type Building } from "./server-commands.js";

/** Options every command has. */
export interface GlobalOptions {
  readonly data: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  /** False with --no-color. */
  readonly color?: boolean;
}

/** What a command gets beside its own arguments. */
export interface CommandContext {
  readonly output: Output;
  readonly dataDirectory: string;
  /** Set when the command is to talk to a running server. */
  readonly server?: ServerOptions;
}

const RESOLUTION_KINDS = [
  "happened",
  "did-not-happen",
  "compensated-by-hand",
  "accepted-as-is",
  "retry",
] as const;

const EXIT_CODES = `
Exit codes: 0 done, 1 failed (run: aborted and undone), 2 usage, 3 not found, 4 conflict,
5 store unavailable, 6 something could not be undone, 130 interrupted, 143 terminated.`;

/**
 * The whole command line; `setExitCode` is called once by the command that ran. `settings` become
 * the flags of serve and config.
 */
export function createProgram(
  setExitCode: (code: number) => void,
  settings: readonly SettingFacts[] = [],
): Command {
  const program = new Command("agenttx")
    .description("Transactions for the tool calls of AI agents")
    .version(version(), "--version")
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .showSuggestionAfterError(true)
    .configureHelp({ optionDescription })
    .addHelpText("after", EXIT_CODES);
  addRun(program, setExitCode);
  addQueries(program, setExitCode);
  addRepairs(program, setExitCode);
  addUndo(program, setExitCode);
  const act: Building["act"] = async (command, run) => setExitCode(await within(command, run));
  addServerCommands({ program, common: bare, act, collect }, settings);
  addRecoveryCommands({ program, common, remote, act, collect });
  addHouseKeeping(program, setExitCode);
  return program;
}

function addRun(program: Command, setExitCode: (code: number) => void): void {
  common(program.command("run"))
    .argument("<plan>", "plan file, JSON")
    .description("run a recorded plan as one transaction")
    .option("--tools <module>", "module that exports `tools`", collect, [])
    .option("--input <name=value>", "set an input of the plan", collectInput, {})
    .option("--memory", "keep everything in memory, nothing on disk")
    .option("--sync-writes", "fsync every acknowledged write")
    .option("--keep-open", "do not commit; leave the transaction to be resumed")
    .option("--resume <id>", "go on with an open transaction")
    .option("--files-root <dir>", "add the fs.* tools, below this directory")
    .option("--outbox <file>", "add effect.stage, which writes to this file after the commit")
    .action(async (plan, options, command) => {
      setExitCode(
        await within(command, async (context) =>
          (await import("./commands/run.js")).run(context, plan, options),
        ),
      );
    });
}

function addQueries(program: Command, setExitCode: (code: number) => void): void {
  remote(common(program.command("list")))
    .description("list transactions, open ones and ended ones")
    .option("--limit <n>", "at most this many", wholeNumber, 100)
    .action(async (options, command) => {
      setExitCode(
        await within(command, async (context) =>
          (await import("./commands/list.js")).list(context, options),
        ),
      );
    });
  remote(common(program.command("show")))
    .argument("<id>", "transaction")
    .description("show one transaction")
    .action(async (id, _options, command) => {
      setExitCode(
        await within(command, async (context) =>
          (await import("./commands/show.js")).show(context, id),
        ),
      );
    });
  remote(common(program.command("explain")))
    .argument("<id>", "transaction or workflow")
    .description(
      "tell the story of a transaction, or of a workflow, and the reason of each decision",
    )
    .action(async (id, _options, command) => {
      setExitCode(
        await within(command, async (context) =>
          (await import("./commands/explain.js")).explain(context, id),
        ),
      );
    });
  remote(common(program.command("unresolved")))
    .description("list effects that could not be undone")
    .action(async (_options, command) => {
      setExitCode(
        await within(command, async (context) =>
          (await import("./commands/unresolved.js")).unresolved(context),
        ),
      );
    });
  const audit = program.command("audit").description("the audit journal");
  common(audit.command("verify"))
    .argument("[id]", "one transaction; default: all, and the store's own chain")
    .description("prove that no entry was altered, and no chain removed")
    .action(async (id, _options, command) => {
      setExitCode(
        await within(command, async (context) =>
          (await import("./commands/audit-verify.js")).auditVerify(context, id ?? null),
        ),
      );
    });
  common(audit.command("export"))
    .argument("[id]", "one transaction; default: all, and the store's own chain")
    .description("print the entries as JSON Lines, with their hashes")
    .action(async (id, _options, command) => {
      setExitCode(
        await within(command, async (context) =>
          (await import("./commands/audit-export.js")).auditExport(context, id ?? null),
        ),
      );
    });
}

function addRepairs(program: Command, setExitCode: (code: number) => void): void {
  common(program.command("recover"))
    .description("undo what an earlier process left open")
    .option("--tools <module>", "module that exports `tools`", collect, [])
    .option("--files-root <dir>", "add the fs.* tools, below this directory")
    .option("--resume", "leave transactions open whose effects are all settled")
    .action(async (options, command) => {
      setExitCode(
        await within(command, async (context) =>
          (await import("./commands/recover.js")).recover(context, options),
        ),
      );
    });
  remote(common(program.command("resolve")))
    .argument("<effect>", "effect id, as `agenttx unresolved` shows it")
    .description("record what became of an effect that could not be undone")
    .addOption(
      new Option("--kind <kind>", "what became of it")
        .choices(RESOLUTION_KINDS)
        .makeOptionMandatory(),
    )
    .requiredOption("--actor <name>", "who says so")
    .requiredOption("--note <text>", "why, for the audit journal")
    .option("--tools <module>", "module that exports `tools`, for `--kind retry`", collect, [])
    .option("--files-root <dir>", "add the fs.* tools, below this directory")
    .action(async (effect, options, command) => {
      setExitCode(
        await within(command, async (context) =>
          (await import("./commands/resolve.js")).resolve(context, effect, options),
        ),
      );
    });
}

function addUndo(program: Command, setExitCode: (code: number) => void): void {
  remote(common(program.command("rollback")))
    .argument("<id>", "transaction")
    .description("take back the steps from one on; the transaction stays open")
    .addOption(
      new Option("--to-step <n>", "the step that comes next then")
        .argParser(wholeNumber)
        .makeOptionMandatory(),
    )
    .option("--tools <module>", "module that exports `tools`, for their undo", collect, [])
    .option("--files-root <dir>", "add the fs.* tools, below this directory")
    .action(async (id, options, command) => {
      setExitCode(
        await within(command, async (context) =>
          (await import("./commands/rollback.js")).rollback(context, id, options),
        ),
      );
    });
  remote(common(program.command("abort")))
    .argument("<id>", "transaction")
    .description("take back everything and end the transaction")
    .option("--reason <text>", "why, for the audit journal", "ABORTED_BY_OPERATOR")
    .option("--tools <module>", "module that exports `tools`, for their undo", collect, [])
    .option("--files-root <dir>", "add the fs.* tools, below this directory")
    .action(async (id, options, command) => {
      setExitCode(
        await within(command, async (context) =>
          (await import("./commands/rollback.js")).abort(context, id, options),
        ),
      );
    });
}

function addHouseKeeping(program: Command, setExitCode: (code: number) => void): void {
  common(program.command("backup"))
    .argument("<dest>", "directory that does not exist yet")
    .description("copy the store while it is whole")
    .action(async (dest, _options, command) => {
      setExitCode(
        await within(command, async (context) =>
          (await import("./commands/backup.js")).backup(context, dest),
        ),
      );
    });
  common(program.command("restore"))
    .argument("<backup>", "directory that `agenttx backup` made")
    .description("make the data directory from a backup; it must not exist yet, or be empty")
    .action(async (backup, _options, command) => {
      setExitCode(
        await within(command, async (context) =>
          (await import("./commands/restore.js")).restore(context, backup),
        ),
      );
    });
  common(program.command("doctor"))
    .description("check versions, addon, store and free space")
    .action(async (_options, command) => {
      setExitCode(
        await within(command, async (context) =>
          (await import("./commands/doctor.js")).doctor(context, version()),
        ),
      );
    });
  program
    .command("completion")
    .argument("<shell>", "bash, zsh or fish")
    .description("print the completion script of a shell")
    .action(async (shell) => {
      const { completion } = await import("./commands/completion.js");
      process.stdout.write(completion(program, shell));
    });
}

function common(command: Command): Command {
  return bare(
    command.addOption(
      new Option("--data <dir>", "data directory").env("AGENTTX_DATA_DIR").default(".agenttx"),
    ),
  );
}

/** For commands that can talk to a running server instead of opening the data directory. */
function remote(command: Command): Command {
  return command
    .addOption(
      new Option("--server <address>", "a running server, host:port, instead of --data").env(
        "AGENTTX_SERVER",
      ),
    )
    .option("--token-file <file>", "file with the bearer token; or AGENTTX_TOKEN")
    .option("--tls-ca <file>", "PEM authority of the server's certificate")
    .option("--tls-cert <file>", "PEM client certificate")
    .option("--tls-key <file>", "PEM key of the client certificate");
}

function bare(command: Command): Command {
  return command
    .option("--json", "print JSON")
    .option("--no-color", "print no colours, as with NO_COLOR")
    .option("--quiet", "print no remarks")
    .option("--verbose", "print stacks of errors");
}

/** Runs a command and turns what it throws into an exit code. */
async function within(
  command: Command,
  run: (context: CommandContext) => Promise<number>,
): Promise<number> {
  const options = command.opts<GlobalOptions>();
  const output = createOutput({
    json: options.json === true,
    quiet: options.quiet === true,
    verbose: options.verbose === true,
    colour: options.color !== false,
  });
  try {
    const server = serverOf(command);
    const context = { output, dataDirectory: options.data };
    return await run(server === null ? context : { ...context, server });
  } catch (error) {
    return output.failure(error);
  }
}

/** null: the data directory. An explicit --data is stronger than AGENTTX_SERVER. */
function serverOf(command: Command): ServerOptions | null {
  const { server, ...rest } = command.opts<Omit<ServerOptions, "address"> & { server?: string }>();
  if (server === undefined) return null;
  if (command.getOptionValueSource("data") === "cli") {
    if (command.getOptionValueSource("server") === "env") return null;
    throw new AgentTxError("INVALID_ARGUMENT", "--data and --server exclude each other.");
  }
  return { ...rest, address: server };
}

/** An empty default says nothing to a reader. */
function optionDescription(option: Option): string {
  const text = Help.prototype.optionDescription.call(new Help(), option);
  return text.replace(/ \(default: (?:\[\]|\{\}|"")\)/, "");
}

function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

function collectInput(
  value: string,
  before: Readonly<Record<string, string>>,
): Record<string, string> {
  const at = value.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("give it as name=value");
  return { ...before, [value.slice(0, at)]: value.slice(at + 1) };
}

function wholeNumber(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) {
    throw new InvalidArgumentError("give a whole number above 0");
  }
  return number;
}

function version(): string {
  const file = new URL("../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
