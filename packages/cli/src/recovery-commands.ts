// Owns the arguments and options of the commands about workflows and their recovery: workflows,
// freeze, plan, apply, resume, replay, reconcile, drill.

import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "./program.js";
import type { Building } from "./server-commands.js";

const RESOLUTION_KINDS = [
  "happened",
  "did-not-happen",
  "compensated-by-hand",
  "accepted-as-is",
  "retry",
] as const;
const BEHAVIOURS = ["healthy", "slow", "failing", "silent", "wrong"] as const;

type Run = (context: CommandContext) => Promise<number>;

/** `remote` adds the options of a command that can talk to a running server. */
export interface RecoveryBuilding extends Building {
  readonly remote: (command: Command) => Command;
}

/** Adds them to the program. */
export function addRecoveryCommands(building: RecoveryBuilding): void {
  addStages(building);
  addReconcile(building);
  addDrill(building);
}

function addStages({ program, common, remote, act, collect }: RecoveryBuilding): void {
  const module = (command: Command): Command =>
    command
      .option("--tools <module>", "module that exports `tools`, and `recovery`", collect, [])
      .option("--files-root <dir>", "add the fs.* tools, below this directory");
  const stages = () => import("./commands/recovery/stages.js");
  const reads = () => import("./commands/recovery/workflows.js");
  const run = (command: Command, work: Run): Promise<void> => act(command, work);
  remote(common(program.command("workflows")))
    .description("list workflows and the state each is in")
    .option("--limit <n>", "at most this many", wholeNumber, 100)
    .action((options, command) =>
      run(command, async (context) => (await reads()).workflows(context, options)),
    );
  remote(common(program.command("replay")))
    .argument("<workflow>")
    .description("tell a workflow's recoveries and facts again, from the audit alone")
    .action((id, _options, command) =>
      run(command, async (context) => (await reads()).replay(context, id)),
    );
  remote(common(program.command("freeze")))
    .argument("<workflow>")
    .description("stop a workflow: its owner is refused from now on")
    .requiredOption("--actor <name>", "who asks for it")
    .requiredOption("--reason <text>", "why, for the audit journal")
    .action((id, options, command) =>
      run(command, async (context) => (await stages()).freeze(context, id, options)),
    );
  module(remote(common(program.command("plan"))))
    .argument("<workflow>")
    .description("show what going back to a checkpoint would do; changes nothing")
    .option("--checkpoint <name>", "default: the newest validated one", "latest")
    .option("--out <file>", "write the plan there, for apply")
    .action((id, options, command) =>
      run(command, async (context) => (await stages()).plan(context, id, options)),
    );
  module(remote(common(program.command("apply"))))
    .argument("<file>", "a plan, as `agenttx plan --out` wrote it")
    .description("carry a plan out; refused when its basis has changed")
    .requiredOption("--actor <name>", "who carries it out")
    .option("--hold", "stop at Recovered; `agenttx resume` goes on")
    .action((file, options, command) =>
      run(command, async (context) => (await stages()).apply(context, file, options)),
    );
  module(remote(common(program.command("resume"))))
    .argument("[workflow]", "default: every interrupted recovery")
    .description("go on with a recovery")
    .option("--actor <name>", "who asks for it", "operator")
    .action((id, options, command) =>
      run(command, async (context) => (await stages()).resume(context, id ?? null, options)),
    );
}

function addReconcile({ program, common, remote, act, collect }: RecoveryBuilding): void {
  const reconcile = program.command("reconcile").description("effects that wait for somebody");
  const load = () => import("./commands/recovery/reconcile.js");
  remote(common(reconcile.command("list")))
    .argument("[workflow]", "default: all of them")
    .description("what is open, oldest first")
    .action((id, _options, command: Command) =>
      act(command, async (context) => (await load()).reconcileList(context, id ?? null)),
    );
  remote(common(reconcile.command("show")))
    .argument("<effect>", "effect id, as `reconcile list` shows it")
    .description("one open effect with its evidence")
    .action((id, _options, command: Command) =>
      act(command, async (context) => (await load()).reconcileShow(context, id)),
    );
  remote(common(reconcile.command("resolve")))
    .argument("<effect>", "effect id, as `reconcile list` shows it")
    .description("record what became of it; the workflow goes on when it was the last one")
    .addOption(new Option("--kind <kind>").choices(RESOLUTION_KINDS).makeOptionMandatory())
    .requiredOption("--actor <name>", "who says so")
    .requiredOption("--note <text>", "why, for the audit journal")
    .option("--tools <module>", "module that exports `tools`, and `recovery`", collect, [])
    .option("--files-root <dir>", "add the fs.* tools, below this directory")
    .action((id, options, command: Command) =>
      act(command, async (context) => (await load()).reconcileResolve(context, id, options)),
    );
}

function addDrill({ program, common, act, collect }: Building): void {
  common(program.command("drill"))
    .argument("[workflows...]", "default: all that are open")
    .description("recover a copy with simulated owners, and report; calls nobody")
    .addOption(new Option("--owners <behaviour>").choices(BEHAVIOURS).default("healthy"))
    .option("--owner <tool=behaviour>", "one owner that behaves otherwise", collect, [])
    .option("--checkpoint <name>", "default: the newest validated one", "latest")
    .option("--tools <module>", "module that exports `tools`, for their shape", collect, [])
    .option("--slow-ms <n>", "what a slow owner takes", wholeNumber, 200)
    .option("--deadline-ms <n>", "after which an owner counts as silent", wholeNumber, 1_000)
    .action((ids, options, command: Command) =>
      act(command, async (context) =>
        (await import("./commands/recovery/drill.js")).drill(context, ids, options),
      ),
    );
}

function wholeNumber(value: string): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new InvalidArgumentError("give a whole number above 0");
}
