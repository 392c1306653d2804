// Owns the smallest step driver that keeps the contract of effects/contract.ts: what the tests of
// the effects side stand on instead of the whole engine.

import type { EffectClass, JsonValue, RecordWrite, Store, StoreTransaction } from "@agenttx/model";
import type { AnyTool, EffectCall, EffectCounters, EffectRun, EffectsPort } from "../contract.js";

export interface CallOptions {
  readonly dependsOn?: readonly string[];
  readonly recordedArgs?: JsonValue;
  readonly signal?: AbortSignal;
  readonly effectClass?: Exclude<EffectClass, "read-only">;
  readonly retry?: EffectCall["retry"];
  readonly redact?: EffectCall["redact"];
}

export class SmallDriver {
  readonly tx: StoreTransaction;
  readonly effects: EffectsPort;
  step = 1;
  counters: EffectCounters;

  private constructor(tx: StoreTransaction, effects: EffectsPort, counters: EffectCounters) {
    this.tx = tx;
    this.effects = effects;
    this.counters = counters;
  }

  static async begin(store: Store, effects: EffectsPort, id: string, namespace = "") {
    const payload = Buffer.from(JSON.stringify({ effectSeq: 1, undoSeq: 1 }));
    const tx = await store.begin(id, { namespace, payload });
    return new SmallDriver(tx, effects, { effectSeq: 1, undoSeq: 1 });
  }

  /** What a restarted process does: everything from disk. */
  static async attach(store: Store, effects: EffectsPort, id: string, namespace = "") {
    const tx = await store.attach(id, { namespace });
    const { payload, step } = tx.header();
    const counters = JSON.parse(Buffer.from(payload).toString()) as EffectCounters;
    const driver = new SmallDriver(tx, effects, counters);
    driver.step = step;
    return driver;
  }

  /** One external call; a success is made durable as the step's batch. */
  async call(tool: AnyTool, args: JsonValue, options: CallOptions = {}): Promise<EffectRun> {
    const run = await this.effects.runEffect(this.#callOf(tool, args, options));
    this.counters = run.counters;
    if (run.kind === "succeeded") await this.#stepBatch(run.records);
    return run;
  }

  /** A staged call. Returns the effect's id. */
  async stage(tool: AnyTool, args: JsonValue, options: CallOptions = {}): Promise<string> {
    const call = this.#callOf(tool, args, { effectClass: "irreversible", ...options });
    const staged = this.effects.stageEffect(call);
    this.counters = staged.counters;
    await this.#stepBatch(staged.records);
    return staged.effect.effectId;
  }

  async commit(): Promise<void> {
    const records = await this.effects.commitRecords(this.tx.id, this.tx.namespace);
    await this.tx.commit({ records });
  }

  compensate(fromStep = 0) {
    const { tx } = this;
    return this.effects.compensate({
      tx,
      transaction: tx.id,
      namespace: tx.namespace,
      fromStep,
    });
  }

  list() {
    return this.effects.listEffects(this.tx.id, this.tx.namespace);
  }

  async states(): Promise<string[]> {
    return (await this.list()).map(({ state }) => state);
  }

  #callOf(tool: AnyTool, args: JsonValue, options: CallOptions): EffectCall {
    const { tx, step } = this;
    const attempt = tx.beginAttempt();
    const idempotencyKey = `${tx.id}/key/${this.counters.effectSeq}`;
    return {
      tx,
      tool,
      effectClass: options.effectClass ?? "reversible",
      step,
      attempt,
      args,
      recordedArgs: options.recordedArgs ?? args,
      requestDigest: "digest",
      idempotencyKey,
      dependsOn: options.dependsOn ?? [],
      counters: this.counters,
      payload: (counters) => Buffer.from(JSON.stringify(counters)),
      context: {
        transaction: tx.id,
        namespace: tx.namespace,
        step,
        attempt,
        idempotencyKey,
        state: {
          get: (key) => tx.get(key),
          scan: (range) => tx.scan(range),
          put: () => undefined,
          delete: () => undefined,
        },
      },
      signal: options.signal ?? new AbortController().signal,
      ...(options.redact === undefined ? {} : { redact: options.redact }),
      ...(options.retry === undefined ? {} : { retry: options.retry }),
    };
  }

  async #stepBatch(records: readonly RecordWrite[]) {
    this.step += 1;
    await this.tx.apply({
      records,
      next: { step: this.step },
      payload: Buffer.from(JSON.stringify(this.counters)),
      snapshot: this.step,
    });
  }
}
