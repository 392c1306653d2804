// Owns the start of the process: parse the command line, run one command, set the exit code.
// Nothing heavy is imported here: the engine and the addon load with the command that needs them.

import type { SettingFacts } from "@agenttx/server/settings";
import { type Command, CommanderError } from "commander";
import { EXIT } from "./exit-codes.js";
import { createOutput, ignoreClosedPipe } from "./output.js";
import { createProgram } from "./program.js";

async function main(argv: readonly string[]): Promise<number> {
  // Help is printed before any command makes its output.
  ignoreClosedPipe(process.stdout);
  ignoreClosedPipe(process.stderr);
  let exitCode: number = EXIT.OK;
  const program = createProgram(
    (code) => {
      exitCode = code;
    },
    await settingsFor(argv[0]),
  );
  try {
    await program.parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.OK;
    if (error instanceof CommanderError && error.code === "commander.help") {
      process.stderr.write(helpOf(program, argv));
      return EXIT.USAGE;
    }
    const json = argv.includes("--json");
    const verbose = argv.includes("--verbose");
    const output = createOutput({ json, quiet: false, verbose });
    if (!(error instanceof CommanderError)) return output.failure(error);
    const { AgentTxError } = await import("@agenttx/model");
    const message = error.message.replace(/^error: /, "").replace(/\n/g, " ");
    return output.failure(
      new AgentTxError(
        "INVALID_ARGUMENT",
        `${message}. See ${calledName(program, argv)} --help.`.replace("..", "."),
      ),
    );
  }
}

/** The settings of serve, where the command line speaks of them: loading them takes a while. */
async function settingsFor(command: string | undefined): Promise<readonly SettingFacts[]> {
  if (command === undefined || !["serve", "config", "completion", "help"].includes(command)) {
    return [];
  }
  const { settingFacts } = await import("@agenttx/server/settings");
  return settingFacts();
}

/** The command line up to the innermost command, such as `agenttx audit verify`. */
function calledName(program: Command, argv: readonly string[]): string {
  const names = [program.name()];
  let command: Command | undefined = program;
  for (const word of argv) {
    command = command.commands.find((one) => one.name() === word);
    if (command === undefined) break;
    names.push(word);
  }
  return names.join(" ");
}

/** Help of the command that was called without its subcommand. */
function helpOf(program: Command, argv: readonly string[]): string {
  const called = program.commands.find((command) => command.name() === argv[0]);
  return (called ?? program).helpInformation();
}

// A tool that fails behind everybody's back ends the process like a crash: the next run recovers.
process.on("uncaughtException", (error) => {
  const flags = process.argv.slice(2);
  const json = flags.includes("--json");
  const output = createOutput({ json, quiet: false, verbose: flags.includes("--verbose") });
  process.exit(output.failure(error));
});

process.exitCode = await main(process.argv.slice(2));
