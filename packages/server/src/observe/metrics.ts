// Owns the Prometheus metrics. Labels are bounded: tool names beyond the first 100 become "other";
// transaction ids and tenants are never labels.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

const TOOL_LABELS_MAX = 100;
const SECONDS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

export class Metrics {
  readonly registry = new Registry();
  readonly #tools = new Set<string>();

  readonly transactionsOpen = this.#gauge("agenttx_transactions_open", "Open transactions");
  readonly sessionsOpen = this.#gauge("agenttx_sessions_open", "Open session streams");
  readonly unresolved = this.#gauge("agenttx_reconciliation_queue_depth", "Unresolved effects");
  readonly oldestUnresolved = this.#gauge(
    "agenttx_oldest_unresolved_seconds",
    "Age of the oldest unresolved effect",
  );
  readonly storageBytes = this.#gauge("agenttx_storage_bytes", "Bytes of database files");
  readonly storePoisoned = this.#gauge(
    "agenttx_store_poisoned",
    "1 while the store refuses writes",
  );
  readonly workWaiting = this.#gauge("agenttx_work_waiting", "Work items that no worker has taken");
  readonly oldestWork = this.#gauge(
    "agenttx_work_oldest_seconds",
    "Age of the oldest work item that no worker has taken",
  );
  readonly recoveryRemaining = this.#gauge(
    "agenttx_recovery_remaining",
    "Transactions that recovery has not looked at yet",
  );
  readonly steps = this.#counter("agenttx_steps_total", "Steps by tool and status", [
    "tool",
    "status",
  ]);
  readonly rollbacks = this.#counter("agenttx_rollbacks_total", "Rollbacks by strategy", [
    "strategy",
  ]);
  readonly compensations = this.#counter("agenttx_compensations_total", "Compensations by result", [
    "result",
  ]);
  readonly transactions = this.#counter("agenttx_transactions_total", "Ended ones by status", [
    "status",
  ]);
  readonly deliveries = this.#counter("agenttx_deliveries_total", "Staged effects by result", [
    "result",
  ]);
  readonly #calls = this.#counter("agenttx_calls_total", "Calls by face, method and code", [
    "face",
    "method",
    "code",
  ]);
  readonly #callSeconds = this.#histogram("agenttx_call_duration_seconds", "Calls", [
    "face",
    "method",
  ]);

  /** Label sets that were used before, by their text: looking them up in the registry is dear. */
  readonly #callCounters = new Map<string, Counter.Internal>();
  readonly #callTimers = new Map<string, Histogram.Internal<"face" | "method">>();

  constructor(version: string) {
    collectDefaultMetrics({ register: this.registry });
    const info = new Gauge({
      name: "agenttx_build_info",
      help: "1, with the version as label",
      labelNames: ["version"],
      registers: [this.registry],
    });
    info.set({ version }, 1);
  }

  /** Counts one call; `method` and `code` are names of ours, so the labels are bounded. */
  called(face: string, method: string, code: string, ms: number): void {
    const timerKey = `${face} ${method}`;
    let timer = this.#callTimers.get(timerKey);
    if (timer === undefined) {
      timer = this.#callSeconds.labels({ face, method });
      this.#callTimers.set(timerKey, timer);
    }
    timer.observe(ms / 1_000);
    const counterKey = `${timerKey} ${code}`;
    let counter = this.#callCounters.get(counterKey);
    if (counter === undefined) {
      counter = this.#calls.labels({ face, method, code });
      this.#callCounters.set(counterKey, counter);
    }
    counter.inc();
  }

  /** The label of a tool: its name, or "other" when there are too many. */
  toolLabel(tool: string): string {
    if (this.#tools.has(tool)) return tool;
    if (this.#tools.size >= TOOL_LABELS_MAX) return "other";
    this.#tools.add(tool);
    return tool;
  }

  #gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: [this.registry] });
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #histogram<Label extends string>(name: string, help: string, labelNames: Label[]) {
    return new Histogram({ name, help, labelNames, buckets: SECONDS, registers: [this.registry] });
  }
}
