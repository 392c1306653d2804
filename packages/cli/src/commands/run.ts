// Owns `agenttx run`: recover what an earlier run left, then run a plan and show it.

import type { Transaction } from "@agenttx/engine";
import { AgentTxError } from "@agenttx/model";
import { API_VERSION, type Output, printable } from "../output.js";
import { type Plan, readPlan } from "../plan/schema.js";
import type { CommandContext } from "../program.js";
import type { RunLine } from "../run/events.js";
import { watchInterrupts } from "../run/interrupt.js";
import { recoverEngine, recoveryText, UndoCounter } from "../run/recovery.js";
import type { RecoverySummary, RunResult } from "../run/result.js";
import { runPlan } from "../run/run-plan.js";
import { openSession, type Session } from "../session.js";
import { formatMs } from "../timeline/duration.js";
import { symbolsFor } from "../timeline/symbols.js";
import { Timeline } from "../timeline/timeline.js";

export interface RunOptions {
  readonly tools: readonly string[];
  readonly input: Readonly<Record<string, string>>;
  readonly memory?: boolean;
  readonly syncWrites?: boolean;
  readonly keepOpen?: boolean;
  readonly resume?: string;
  readonly filesRoot?: string;
  readonly outbox?: string;
}

/** The exit code is that of the result; see README.md. */
export async function run(
  context: CommandContext,
  planFile: string,
  options: RunOptions,
): Promise<number> {
  checkOptions(options);
  const plan = await readPlan(planFile, options.input);
  const { output, dataDirectory } = context;
  const beganAt = performance.now();
  const elapsed = () => performance.now() - beganAt;
  const emit = lineSink(output);
  const undos = new UndoCounter();
  const session = await openSession({
    ...options,
    dataDirectory,
    create: true,
    observer: {
      onEvent: (event) => {
        undos.see(event);
        emit({ type: "event", elapsedMs: elapsed(), ...event });
      },
    },
    onLookup: (report) => emit({ type: "lookup", elapsedMs: elapsed(), ...report }),
  });
  const interrupt = watchInterrupts((signal) =>
    output.note(`${signal}: ${STOPPING[stopOf(options)]}`),
  );
  try {
    const open = await session.store.openTransactions({ limit: 1 });
    if (open.length > 0) emit(notice(elapsed(), "recovering what an earlier run left open"));
    const resumed =
      options.resume === undefined ? null : await session.engine.resume(options.resume);
    const recovery = await recoverEngine(session.engine, { undos });
    if (recovery !== null) emit(notice(elapsed(), `recovered: ${recoveryText(recovery)}`));
    const result = await runPlan({
      plan,
      ...(await startOf(session, plan, resumed)),
      emit,
      beganAtMs: beganAt,
      signal: interrupt.signal,
      keepOpen: options.keepOpen === true,
    });
    const exitCode = interrupt.exitCode() ?? result.exitCode;
    report(output, { ...result, exitCode }, recovery);
    return exitCode;
  } finally {
    interrupt.release();
    await session.close();
  }
}

const STOPPING = {
  keep: "stops after this step and leaves the transaction open; once more ends at once",
  undo: "takes everything back; once more ends at once, and the next run recovers",
} as const;

function stopOf(options: RunOptions): keyof typeof STOPPING {
  return options.keepOpen === true ? "keep" : "undo";
}

function checkOptions(options: RunOptions): void {
  const keeps = options.keepOpen === true || options.resume !== undefined;
  if (options.memory !== true || !keeps) return;
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    "--memory keeps nothing, so it does not go with --keep-open or --resume. Leave one out.",
  );
}

/** A new transaction, or an open one with the step it stands at and what it has learnt. */
async function startOf(session: Session, plan: Plan, resumed: Transaction | null) {
  const { agent: agentId, metadata, policy } = plan;
  if (resumed === null) {
    const overrides = Object.fromEntries(
      Object.entries(policy).filter(([, value]) => value !== undefined),
    );
    const transaction = await session.engine.begin({ agentId, metadata, policy: overrides });
    return { transaction };
  }
  const view = await resumed.view();
  if (view.nextStep > 0) {
    return { transaction: resumed, firstStep: view.nextStep, hints: view.constraints };
  }
  const frozen = view.status === "FROZEN";
  throw new AgentTxError(
    frozen ? "TRANSACTION_FROZEN" : "TRANSACTION_ENDED",
    `Transaction ${view.id} is ${view.status} and cannot be resumed.${frozen ? " See agenttx unresolved." : ""}`,
    { details: { transaction: view.id, status: view.status } },
  );
}

function notice(elapsedMs: number, text: string): RunLine {
  return { type: "notice", elapsedMs, text };
}

/** JSON lines, or the timeline, or with --quiet nothing. */
function lineSink(output: Output): (line: RunLine) => void {
  if (output.json) {
    return (line) => {
      if (!output.quiet) output.data({ apiVersion: API_VERSION, ...line });
    };
  }
  if (output.quiet) return () => {};
  const timeline = new Timeline({
    write: (text) => process.stdout.write(text),
    paint: output.paint,
    symbols: symbolsFor(process.env, process.platform),
    ...(process.stdout.columns === undefined ? {} : { columns: process.stdout.columns }),
    live: process.stdout.isTTY === true && process.env.TERM !== "dumb",
  });
  return (line) => timeline.add(line);
}

function report(output: Output, result: RunResult, recovery: RecoverySummary | null): void {
  output.data({ ...result, recovery });
  const { status, steps, compensationsRun, durationMs } = result;
  const rewinds = steps.filter((step) => step.status === "ROLLBACK_TRIGGERED").length;
  const style = status === "COMMITTED" ? "green" : status === "OPEN" ? "cyan" : "red";
  const facts = [
    `${counted(steps.length, "step")} run`,
    counted(rewinds, "rewind"),
    `${counted(compensationsRun, "effect")} taken back`,
    formatMs(durationMs),
  ];
  output.line(`${output.paint(style, status)}  ${result.transaction}  ${facts.join(", ")}`);
  if (result.reason !== null) output.note(`reason: ${printable(result.reason)}`);
  if (result.unresolvedEffects.length > 0) {
    output.note(
      `could not be undone: ${result.unresolvedEffects.join(", ")}; see agenttx unresolved`,
    );
  }
  if (result.effectsPending > 0) {
    output.note(
      `${result.effectsPending} effects are not delivered yet; agenttx recover tries again`,
    );
  }
  if (status === "OPEN") output.note(`go on with --resume ${result.transaction}`);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
