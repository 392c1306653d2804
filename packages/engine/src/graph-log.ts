// Owns the dependency graph of one transaction, built from its step records when a failure asks.
//
//   G1 Steps that work cost nothing here, not even memory; each executed step is added at most
//      once (G4).
//   G2 The graph has no other source than durable records, so a restart loses nothing (G5).
import type { JsonValue, Store } from "@agenttx/model";
import { DependencyGraph } from "@agenttx/policy";
import { decodeStep, type StepRecord } from "./step/record.js";
import { mayHoldReferences, resolveReferences, type StepReference } from "./step/references.js";

export interface FailedStep {
  readonly step: number;
  readonly tool: string;
  readonly inputs: JsonValue;
  readonly references: readonly StepReference[];
}

const PAGE = 500;

export class GraphLog {
  readonly #store: Store;
  readonly #transaction: string;
  readonly #namespace: string;
  /** Null until a failure asks: most transactions never need one. */
  #graph: DependencyGraph | null = null;
  /** Steps 1..#last are in the graph. */
  #last = 0;

  constructor(store: Store, transaction: string, namespace: string) {
    this.#store = store;
    this.#transaction = transaction;
    this.#namespace = namespace;
  }

  /** The record of a step that worked and was not undone, or null. */
  async record(step: number): Promise<StepRecord | null> {
    const bytes = await this.#store.readRecord(this.#transaction, {
      space: "output",
      step,
      namespace: this.#namespace,
    });
    return bytes === null ? null : decodeStep(this.#transaction, step, bytes);
  }

  /**
   * The graph of steps 1..`last`, and the failed step when it is not among them. The caller gives
   * it back with `rewindTo` before the step number is used again.
   */
  async upTo(last: number, failed: FailedStep | null): Promise<DependencyGraph> {
    this.#graph ??= new DependencyGraph();
    const graph = this.#graph;
    while (this.#last < last) {
      const page = await this.#store.scanRecords("output", {
        transaction: this.#transaction,
        namespace: this.#namespace,
        fromStep: this.#last + 1,
        limit: Math.min(PAGE, last - this.#last),
      });
      if (page.length === 0) break;
      const records = new Map<number, StepRecord>();
      for (const { step, value } of page) {
        const record = decodeStep(this.#transaction, step, value);
        records.set(step, record);
        await this.#add(graph, record, records);
      }
    }
    if (failed !== null) graph.addStep(failed);
    return graph;
  }

  /** Removes steps >= `step` (G4). */
  rewindTo(step: number): void {
    this.#graph?.rewindTo(step);
    this.#last = Math.min(this.#last, Math.max(step - 1, 0));
  }

  async #add(
    graph: DependencyGraph,
    record: StepRecord,
    page: ReadonlyMap<number, StepRecord>,
  ): Promise<void> {
    const { inputs, references } = await this.inputsOf(record.a, page);
    graph.addStep({ step: record.s, tool: record.t, inputs, references });
    graph.recordOutput(record.s, record.o);
    this.#last = record.s;
  }

  /** Arguments as they were sent -> what the step saw, and its explicit edges. */
  async inputsOf(
    args: JsonValue,
    page: ReadonlyMap<number, StepRecord> = new Map(),
  ): Promise<{ inputs: JsonValue; references: readonly StepReference[] }> {
    if (!mayHoldReferences(JSON.stringify(args))) return { inputs: args, references: [] };
    return resolveReferences(args, {
      output: async (step) => (page.get(step) ?? (await this.record(step)))?.o,
      secret: async () => null,
    });
  }
}
