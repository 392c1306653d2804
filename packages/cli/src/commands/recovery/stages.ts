// Owns `agenttx freeze`, `plan`, `apply` and `resume`: the stages of a recovery, one command each.

import { readFileSync, writeFileSync } from "node:fs";
import { AgentTxError } from "@agenttx/model";
import type { RecoveryPlan, WorkflowView } from "@agenttx/recovery";
import { EXIT, type ExitCode } from "../../exit-codes.js";
import { API_VERSION, type Output, printable } from "../../output.js";
import type { CommandContext } from "../../program.js";
import { openRecovery } from "./session.js";

interface WithTools {
  readonly tools?: readonly string[];
  readonly filesRoot?: string;
}

/** Frozen already: exit code 0 and the state as it is. */
export async function freeze(
  context: CommandContext,
  id: string,
  request: { readonly actor: string; readonly reason: string },
): Promise<number> {
  const session = await openRecovery(context);
  try {
    const { actor, reason } = request;
    const view = await session.recovery.freeze(id, { actor, reason });
    return show(context.output, view);
  } finally {
    await session.close();
  }
}

/** Changes nothing but the file that it is told to write. */
export async function plan(
  context: CommandContext,
  id: string,
  options: WithTools & { readonly checkpoint: string; readonly out?: string },
): Promise<number> {
  const { output } = context;
  const session = await openRecovery({ ...options, ...context });
  try {
    const made = await session.recovery.plan(id, options.checkpoint);
    output.data({ apiVersion: API_VERSION, type: "plan", plan: made });
    printPlan(output, made);
    if (!session.hasInvariants) {
      output.note("no invariants: give --tools with a module that exports `recovery`");
    }
    if (options.out !== undefined) {
      writeFileSync(options.out, `${JSON.stringify(made, null, 2)}\n`, { flag: "wx" });
      output.note(`written to ${options.out}; agenttx apply ${options.out} carries it out`);
    }
    return EXIT.OK;
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, "code") === "EEXIST") {
      throw new AgentTxError("INVALID_ARGUMENT", `${options.out} exists and is left as it is.`);
    }
    throw error;
  } finally {
    await session.close();
  }
}

/** Exit code 6 while something stays unresolved. */
export async function apply(
  context: CommandContext,
  file: string,
  options: WithTools & { readonly actor: string; readonly hold?: boolean },
): Promise<number> {
  const { output } = context;
  const made = readPlan(file);
  const session = await openRecovery({ ...options, ...context });
  try {
    const resume = options.hold !== true;
    const view = await session.recovery.apply(made, { actor: options.actor, resume });
    return show(output, view);
  } finally {
    await session.close();
  }
}

/** One workflow, or every interrupted recovery of the store. */
export async function resume(
  context: CommandContext,
  id: string | null,
  options: WithTools & { readonly actor: string },
): Promise<number> {
  const { output } = context;
  const session = await openRecovery({ ...options, ...context });
  try {
    const { actor } = options;
    if (id !== null) return show(output, await session.recovery.resume(id, { actor }));
    const report = await session.recovery.resumeAll();
    output.data({ apiVersion: API_VERSION, type: "resumed", ...report });
    const { found, running, waiting, problems } = report;
    output.line(`${found} found, ${running} running again, ${waiting.length} waiting`);
    for (const workflow of waiting) output.note(`waiting: ${workflow}`);
    for (const { workflow, message } of problems) output.note(`${workflow}: ${printable(message)}`);
    return waiting.length + problems.length === 0 ? EXIT.OK : EXIT.UNRESOLVED;
  } finally {
    await session.close();
  }
}

function readPlan(file: string): RecoveryPlan {
  try {
    const parsed = JSON.parse(readFileSync(file, "utf8")) as Partial<RecoveryPlan>;
    if (parsed.v === 1 && parsed.workflow !== undefined && parsed.digest !== undefined) {
      // What matters of it is compared with the store by its digest.
      return parsed as RecoveryPlan;
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "it cannot be read";
    throw new AgentTxError("INVALID_ARGUMENT", `${file} is no plan: ${why}`, { cause });
  }
  throw new AgentTxError("INVALID_ARGUMENT", `${file} is no plan of agenttx plan --out.`);
}

function show(output: Output, view: WorkflowView): ExitCode {
  output.data({ apiVersion: API_VERSION, type: "workflow", ...view });
  const { id, state, revision, recovery } = view;
  output.line(`${id}  ${state}, revision ${revision}`);
  for (const effect of recovery?.open ?? []) output.note(`open: ${effect}`);
  if (recovery !== null && recovery.problem !== null) output.note(printable(recovery.problem));
  const stuck = state === "Reconciliation" || (recovery?.problem ?? null) !== null;
  return stuck ? EXIT.UNRESOLVED : EXIT.OK;
}

function printPlan(output: Output, made: RecoveryPlan): void {
  const { checkpoint, workflow, state } = made;
  const { name, revision, step } = checkpoint;
  output.line(`${workflow} is ${state}; back to "${name}", revision ${revision}, step ${step}`);
  const part = (title: string, lines: readonly string[]): void => {
    if (lines.length === 0) return;
    output.line(output.paint("bold", title));
    for (const line of lines) output.line(`  ${printable(line)}`);
  };
  part(
    "find out first",
    made.lookUp.map(({ effectId, tool, canLookUp }) => {
      return `${effectId}  ${tool}${canLookUp ? "" : "  (has no lookup: a person says)"}`;
    }),
  );
  part(
    "undo, in this order",
    made.undo.map(({ effectId, tool, blockedBy }) => {
      return `${effectId}  ${tool}${blockedBy.length > 0 ? `  after ${blockedBy.join(", ")}` : ""}`;
    }),
  );
  part("never send", made.drop);
  part(
    "cannot be undone",
    made.cannot.map(({ effectId, explanation }) => `${effectId}  ${explanation}`),
  );
  part(
    "state changes that go",
    made.mutations.map(({ revision: of, step: at, tool }) => `revision ${of}, step ${at}  ${tool}`),
  );
  if (made.migrations.length > 0) part("migrate from version", made.migrations.map(String));
  part("must hold then", made.invariants);
  output.line(`digest ${made.digest}`);
}
