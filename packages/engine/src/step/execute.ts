// Owns one execution of a step's tool: locally, through the effects side, or staged.
//
//   X1 Whatever a tool does or throws ends as a value here; what is thrown is infrastructure (R9).
//   X2 A retry in place keeps the idempotency key (E1c, E3); each try has an attempt of its own.
//   X3 Numbers of effects and undo actions are never given twice, also when the batch that carried
//      them, or a later one of the same call, was refused.
import { cleanError } from "@agenttx/hints";
import { type CleanHint, isAgentTxError, type JsonValue, type ToolContext } from "@agenttx/model";
import type { EffectCall, EffectRun } from "../effects/contract.js";
import { encodeHeader } from "../header.js";
import { type JsonText, toJson } from "../json-text.js";
import { requestDigest } from "../requests.js";
import { fenceOf, nextHeader, type OpenTransaction } from "../state.js";
import { readableThrown } from "../thrown.js";
import { type FailureCause, ownHint } from "./failure-cause.js";
import type { PreparedCall } from "./prepare.js";
import { errorWithoutSecrets, redactPaths, withoutSecrets } from "./redact.js";
import { rejected } from "./rejected.js";
import { StateBuffer } from "./state-buffer.js";
import { type StopControl, StoppedError } from "./stop-control.js";
import { isThenable } from "./thenable.js";

/** Longest output of a tool as JSON, in bytes; a longer one is a failure. */
export const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;
/** Milliseconds that a tool, its schema and the secrets it uses get without a deadline of its own. */
export const DEADLINE_MS_DEFAULT = 30_000;
const RETRIES_READ_ONLY = 2;
const BACKOFF_MS = 100;

export interface StepEffect {
  readonly run: Extract<EffectRun, { kind: "succeeded" }> | ReturnType<EffectStager>;
}
type EffectStager = OpenTransaction["engine"]["effects"]["stageEffect"];

export type Execution =
  | {
      readonly kind: "succeeded";
      readonly output: JsonText;
      readonly buffer: StateBuffer;
      readonly effect: StepEffect["run"] | null;
    }
  | { readonly kind: "failed"; readonly cause: FailureCause }
  /** Nobody knows whether the effect happened: the transaction freezes (E5). */
  | { readonly kind: "unresolved"; readonly cause: FailureCause }
  | { readonly kind: "stopped" };

/** No promise is made for a tool that answers at once and works. */
export function executeCall(
  open: OpenTransaction,
  call: PreparedCall,
  control: StopControl,
): Execution | Promise<Execution> {
  if (call.tool.scope !== "store" && call.effectClass !== "read-only") {
    return executeEffect(open, call, control);
  }
  const first = runLocal(open, call, control);
  if (!(first instanceof Promise) && first.kind === "succeeded") return first;
  return retryLocal(open, call, control, first);
}

async function retryLocal(
  open: OpenTransaction,
  call: PreparedCall,
  control: StopControl,
  first: Execution | Promise<Execution>,
): Promise<Execution> {
  let run = await first;
  for (let failedTries = 1; run.kind === "failed"; failedTries += 1) {
    const waitMs = retryDelay(call, hintOf(run.cause), failedTries);
    if (waitMs === null) break;
    if (!(await pause(open, control, waitMs))) return { kind: "stopped" };
    run = await runLocal(open, call, control);
  }
  return run;
}

async function executeEffect(
  open: OpenTransaction,
  call: PreparedCall,
  control: StopControl,
): Promise<Execution> {
  open.attempt = open.tx.beginAttempt();
  const buffer = new StateBuffer(open.tx);
  if (call.effectClass === "irreversible" && typeof call.tool.irreversible !== "object") {
    return stage(open, call, buffer);
  }
  return runExternal(open, call, control, buffer);
}

/** One try, with an attempt and a buffer of its own (X2). */
function runLocal(
  open: OpenTransaction,
  call: PreparedCall,
  control: StopControl,
): Execution | Promise<Execution> {
  open.attempt = open.tx.beginAttempt();
  const buffer = new StateBuffer(open.tx);
  const failed = (error: unknown): Execution => {
    buffer.seal();
    if (buffer.storeError !== null) throw buffer.storeError;
    return failedRun(call, error);
  };
  try {
    const context = new LocalContext(open, control, buffer);
    // The schema made these arguments for this tool.
    const answer: unknown = call.tool.execute(call.args as never, context);
    if (!isThenable(answer)) return succeeded(call, answer, buffer, null);
    const deadlineMs = call.tool.deadlineMs ?? DEADLINE_MS_DEFAULT;
    return control
      .wait(answer, open.engine.clock, deadlineMs)
      .then((output) => succeeded(call, output, buffer, null))
      .catch(failed);
  } catch (error) {
    return failed(error);
  }
}

function succeeded(
  call: PreparedCall,
  output: unknown,
  buffer: StateBuffer,
  effect: StepEffect["run"] | null,
): Extract<Execution, { kind: "succeeded" }> {
  const text = toJson(output ?? null, OUTPUT_BYTES_MAX);
  const { secrets } = call.resolved;
  if (secrets.size === 0) return { kind: "succeeded", output: text, buffer, effect };
  const clean = withoutSecrets(text.value, secrets);
  return { kind: "succeeded", output: toJson(clean, OUTPUT_BYTES_MAX), buffer, effect };
}

function failedRun(call: PreparedCall, thrown: unknown): Execution {
  const error = readableThrown(thrown);
  if (error instanceof StoppedError && error.why === "stopped") return { kind: "stopped" };
  return { kind: "failed", cause: causeOf(call, error) };
}

function stage(open: OpenTransaction, call: PreparedCall, buffer: StateBuffer): Execution {
  const staged = open.engine.effects.stageEffect(effectFacts(open, call));
  const output = { staged: true, effectId: staged.effect.effectId };
  return succeeded(call, output, buffer, staged);
}

async function runExternal(
  open: OpenTransaction,
  call: PreparedCall,
  control: StopControl,
  buffer: StateBuffer,
): Promise<Execution> {
  const facts = effectFacts(open, call);
  // Numbers that a batch carried are used up, whatever became of it (X3).
  let counters = open.header.effects;
  const effectCall: EffectCall = {
    ...facts,
    owner: open.owner,
    payload(effects) {
      counters = effects;
      return encodeHeader(nextHeader(open, { effects }).header);
    },
    context: {
      transaction: open.id,
      namespace: open.namespace,
      step: open.nextStep,
      attempt: open.attempt,
      idempotencyKey: facts.idempotencyKey,
      state: buffer,
    },
    signal: control.signal,
    redact: (value) => withoutSecrets(value, call.resolved.secrets),
    retry: (error, failedTries) => retryDelay(call, hintOf(causeOf(call, error)), failedTries),
  };
  const run = await open.engine.effects.runEffect(effectCall).finally(() => {
    open.header = { ...open.header, effects: counters };
  });
  if (run.kind === "succeeded") return finishExternal(open, call, run, buffer);
  buffer.seal();
  if (buffer.storeError !== null) throw buffer.storeError;
  if (run.kind === "unresolved") return { kind: "unresolved", cause: causeOf(call, run.error) };
  return control.stopped
    ? { kind: "stopped" }
    : { kind: "failed", cause: causeOf(call, run.error) };
}

/** The effect happened. An output that cannot be stored fails the step, receipt kept (F1). */
async function finishExternal(
  open: OpenTransaction,
  call: PreparedCall,
  run: Extract<EffectRun, { kind: "succeeded" }>,
  buffer: StateBuffer,
): Promise<Execution> {
  try {
    return succeeded(call, run.output, buffer, run);
  } catch (error) {
    buffer.seal();
    const { payload } = nextHeader(open, { effects: run.counters });
    await open.tx.apply({ fence: fenceOf(open), payload, records: run.records });
    return failedRun(call, error);
  }
}

function causeOf(call: PreparedCall, error: unknown): FailureCause {
  if (error instanceof StoppedError) return ownHint("timeout", "deadline");
  if (isAgentTxError(error) && error.code === "PAYLOAD_TOO_LARGE") {
    return ownHint("payload_too_large", "too-large");
  }
  return { error: errorWithoutSecrets(error, call.resolved.secrets) };
}

/** What a record and the other side get to know about the call. */
function effectFacts(open: OpenTransaction, call: PreparedCall) {
  const recordedArgs = argsForLedger(call);
  return {
    tx: open.tx,
    tool: call.tool,
    effectClass: call.effectClass === "irreversible" ? "irreversible" : "reversible",
    step: open.nextStep,
    attempt: open.attempt,
    // The schema made these arguments for this tool.
    args: call.args as JsonValue,
    recordedArgs,
    requestDigest: requestDigest("effect", call.tool.name, recordedArgs),
    idempotencyKey: idempotencyKey(open),
    dependsOn: call.dependsOn,
    counters: open.header.effects,
  } as const;
}

/** What compensation will be given: the validated arguments when they are JSON (E1b). */
function argsForLedger(call: PreparedCall): JsonValue {
  let args = call.resolved.args;
  try {
    args = toJson(call.args, OUTPUT_BYTES_MAX).value;
  } catch {
    // The schema made something that JSON cannot say; then what it was made of is kept.
  }
  return redactPaths(withoutSecrets(args, call.resolved.secrets), call.tool.secrets ?? []);
}

/** One key per transaction, step and attempt group (E3). */
export function idempotencyKey(open: OpenTransaction): string {
  return `${open.id}.${open.nextStep}.${open.header.group}`;
}

/** Context of a tool without outside effects. Everything dear is made when it is asked for. */
class LocalContext implements ToolContext {
  readonly #open: OpenTransaction;
  readonly #control: StopControl;
  readonly transaction: string;
  readonly namespace: string;
  readonly step: number;
  readonly attempt: number;
  readonly state: StateBuffer;

  constructor(open: OpenTransaction, control: StopControl, state: StateBuffer) {
    this.#open = open;
    this.#control = control;
    this.transaction = open.id;
    this.namespace = open.namespace;
    this.step = open.nextStep;
    this.attempt = open.attempt;
    this.state = state;
  }

  get idempotencyKey(): string {
    return idempotencyKey(this.#open);
  }

  get signal(): AbortSignal {
    return this.#control.signal;
  }

  /** Thrown, not rejected: a tool that does not wait for it fails all the same. */
  registerUndo(): Promise<void> {
    const error = new TypeError(
      "A read-only or store-scoped tool has nothing to undo outside the store",
    );
    // After the step there is nobody left to fail, and the process is not to die of it.
    if (this.state.sealed) return rejected(error);
    throw error;
  }
}

function hintOf(cause: FailureCause): CleanHint {
  return "hint" in cause ? cause.hint : cleanError(cause.error);
}

/** Milliseconds before the next try in place, or null when the failure stands (E1c). */
function retryDelay(call: PreparedCall, hint: CleanHint, failedTries: number): number | null {
  const { retry, deadlineMs = DEADLINE_MS_DEFAULT } = call.tool;
  const retries = retry ?? (call.effectClass === "read-only" ? RETRIES_READ_ONLY : 0);
  if (!hint.retryable || failedTries > retries) return null;
  const waitMs = hint.retryAfterMs ?? BACKOFF_MS * 2 ** (failedTries - 1);
  return waitMs <= deadlineMs ? waitMs : null;
}

/** False when the call was stopped meanwhile. */
async function pause(open: OpenTransaction, control: StopControl, ms: number): Promise<boolean> {
  const { clock } = open.engine;
  let cancel = () => {};
  const waiting = new Promise<void>((resolve) => {
    cancel = clock.schedule(ms, resolve);
  });
  try {
    await control.wait(waiting, clock, ms + DEADLINE_MS_DEFAULT);
    return true;
  } catch {
    cancel();
    return false;
  }
}
