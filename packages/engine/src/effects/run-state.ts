// Owns what one running call holds: its record, its counters, and the undo registered so far.
//
//   R1, I2 of run-effect.ts are kept here.

import { newEffect } from "@agenttx/ledger";
import {
  AgentTxError,
  type Bytes,
  type EffectRecord,
  isAgentTxError,
  type JsonValue,
  type RecordWrite,
  type UndoAction,
} from "@agenttx/model";
import { RECEIPT_BYTES_MAX, toJson } from "../json-text.js";
import type { EffectCall, EffectCounters } from "./contract.js";
import type { EffectsCore } from "./core.js";
import { effectAudit } from "./effect-audit.js";
import { effectWrites, putUndo } from "./effect-store.js";
import { lateUndo } from "./late-evidence.js";
import { type HiddenText, hiddenTexts, hideIn, secretPathsOf } from "./secrets.js";

type RecordedCall = Omit<EffectCall, "payload" | "signal" | "context">;

/** The record of a call, as its first batch has it; what it hides is listed in `hidden`. */
export function recordOf(
  core: EffectsCore,
  call: RecordedCall,
  state: "requested" | "staged",
): { readonly effect: EffectRecord; readonly hidden: readonly HiddenText[] } {
  const { tool } = call;
  const pivot = typeof tool.irreversible === "object" ? tool.irreversible : null;
  const hidden = hiddenTexts(call.args, call.recordedArgs);
  const fields = {
    transaction: call.tx.id,
    namespace: call.tx.namespace,
    seq: call.counters.effectSeq,
    step: call.step,
    attempt: call.attempt,
    tool: tool.name,
    toolVersion: tool.version ?? "1",
    effectClass: call.effectClass,
    idempotencyKey: call.idempotencyKey,
    requestDigest: call.requestDigest,
    request: call.recordedArgs,
    secretPaths: secretPathsOf(hidden),
    dependsOn: call.dependsOn,
    compensation: tool.compensation ?? "auto",
    owner: tool.owner ?? null,
    forwardRecovery: pivot?.forwardRecovery ?? null,
  };
  return { effect: newEffect(fields, state, core.clock.now()), hidden };
}

/** Writes the intent and hands back the run. Throws before anything when the caller gave up. */
export async function beginRun(core: EffectsCore, call: EffectCall): Promise<EffectRunState> {
  if (call.signal.aborted) {
    throw new AgentTxError(
      "ABORTED_BY_SIGNAL",
      `${call.tool.name} was not called: the caller gave up before. Nothing was written.`,
    );
  }
  await core.namespaces.ensure(call.tx.namespace);
  const { effect, hidden } = recordOf(core, call, "requested");
  const run = new EffectRunState(core, call, effect, hidden);
  await run.writeIntent();
  return run;
}

export class EffectRunState {
  readonly call: EffectCall;
  /** As it is on disk. */
  effect: EffectRecord;
  counters: EffectCounters;
  /** Registered so far, `compensate` included, as it is on disk. */
  readonly undo: UndoAction[] = [];
  /** Why a registration failed: then the call failed, even when the tool went on. */
  registrationError: unknown = null;
  readonly #core: EffectsCore;
  readonly #hidden: readonly HiddenText[];
  readonly #owner: bigint;
  #storageError: unknown = null;
  #registrations: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(
    core: EffectsCore,
    call: EffectCall,
    effect: EffectRecord,
    hidden: readonly HiddenText[],
  ) {
    this.#core = core;
    this.#hidden = hidden;
    this.#owner = call.owner ?? call.tx.header().owner;
    this.call = call;
    this.effect = effect;
    this.counters = { ...call.counters, effectSeq: call.counters.effectSeq + 1 };
  }

  /** Intent, the tool's own compensation, header and audit in one batch. */
  async writeIntent(): Promise<void> {
    const { call, effect } = this;
    const records = effectWrites(null, effect, []);
    if (call.effectClass === "reversible" && call.tool.compensate !== undefined) {
      const action = this.#nextUndo("compensate", effect.request, effect.secretPaths);
      records.push(putUndo(action));
      this.#take(action);
    }
    const audit = [effectAudit(effect, "request", effect.createdAtMs)];
    await this.write({ records, audit, payload: call.payload(this.counters) });
  }

  async execute(signal: AbortSignal): Promise<unknown> {
    const { call } = this;
    const registerUndo = (action: string, args: JsonValue): Promise<void> =>
      this.#registerUndo(action, args);
    // The registry forgets argument types; these arguments passed the tool's schema.
    return call.tool.execute(call.args as never, { ...call.context, signal, registerUndo });
  }

  /** The value as it may be stored. */
  redact(value: JsonValue): JsonValue {
    return this.call.redact?.(value) ?? value;
  }

  /** From here on results and registrations of this run are late (E6). */
  close(): void {
    this.#closed = true;
  }

  /** Waits for registrations that the tool did not wait for. Throws when storage refused one. */
  async registrationsDone(): Promise<void> {
    await this.#registrations;
    if (this.#storageError !== null) throw this.#storageError;
  }

  /** A batch of this attempt: refused, with evidence, once another attempt runs. */
  async write(batch: {
    readonly records: readonly RecordWrite[];
    readonly audit?: readonly Bytes[];
    readonly payload?: Bytes;
  }): Promise<void> {
    const { tx, attempt, step } = this.call;
    const evidence = effectAudit(this.effect, "refused-write", this.#core.clock.now());
    await tx.apply({ ...batch, fence: { owner: this.#owner, attempt, step }, evidence });
  }

  /** One after another, in the order of the calls. */
  #registerUndo(action: string, args: JsonValue): Promise<void> {
    const written = this.#registrations.then(() => this.#writeUndo(action, args));
    this.#registrations = written.catch((error: unknown) => {
      const infrastructure = isAgentTxError(error) && !CALLER_ERRORS.has(error.code);
      if (infrastructure) this.#storageError ??= error;
      else this.registrationError ??= error;
    });
    return written;
  }

  async #writeUndo(name: string, args: JsonValue): Promise<void> {
    const { call } = this;
    if (this.#closed) {
      await lateUndo(this.#core, this, name);
      throw new AgentTxError(
        "STALE_ATTEMPT",
        `The call of ${call.tool.name} is over; undo "${name}" was not registered. Stop when the signal aborts.`,
      );
    }
    if (!Object.hasOwn(call.tool.undo ?? {}, name)) {
      throw new AgentTxError(
        "TOOL_INVALID",
        `${call.tool.name} declares no undo action "${name}"; nothing was registered.`,
      );
    }
    const plain = toJson(args, RECEIPT_BYTES_MAX).value;
    const shown = hideIn(plain, this.#hidden, this.effect.secretPaths);
    const redacted = this.redact(shown.args);
    const found = secretPathsOf(hiddenTexts(shown.args, redacted));
    const action = this.#nextUndo(name, redacted, [...shown.secretPaths, ...found]);
    const counters = { ...this.counters, undoSeq: action.seq + 1 };
    await this.write({ records: [putUndo(action)], payload: call.payload(counters) });
    this.#take(action);
  }

  #nextUndo(action: string, args: JsonValue, secretPaths: readonly string[]): UndoAction {
    const { effectId, step, tool, toolVersion } = this.effect;
    const seq = this.counters.undoSeq;
    return { seq, effectId, step, tool, toolVersion, action, args, secretPaths };
  }

  #take(action: UndoAction): void {
    this.undo.push(action);
    this.counters = { ...this.counters, undoSeq: action.seq + 1 };
  }
}

/** What the tool did wrong, as opposed to what storage refused. */
const CALLER_ERRORS = new Set<string>(["TOOL_INVALID", "INVALID_ARGUMENT", "PAYLOAD_TOO_LARGE"]);
