// Owns the Prometheus metrics. Labels are bounded: tool names beyond the first 100 become "other";
// transaction ids and tenants are never labels.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { CallDurations } from "./call-durations.js";
import { Tally } from "./tally.js";

const TOOL_LABELS_MAX = 100;

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
  readonly workflowsInRecovery = this.#gauge(
    "agenttx_workflows_in_recovery",
    "Workflows that are not Running, by state, counted to 1,000",
    ["state"],
  );
  readonly oldestInRecovery = this.#gauge(
    "agenttx_workflow_in_recovery_oldest_seconds",
    "Time since the last change of the oldest of them, by state",
    ["state"],
  );
  readonly recoveryDuration = new Histogram({
    name: "agenttx_workflow_recovery_duration_seconds",
    help: "From the freeze of a workflow to its new revision",
    buckets: [0.1, 1, 10, 60, 600, 3_600, 86_400],
    registers: [this.registry],
  });
  readonly #steps = new Tally(["tool", "status"]);
  readonly #calls = new Tally(["face", "method", "code"]);
  readonly #callDurations = new CallDurations();
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
  constructor(version: string) {
    collectDefaultMetrics({ register: this.registry });
    const info = new Gauge({
      name: "agenttx_build_info",
      help: "1, with the version as label",
      labelNames: ["version"],
      registers: [this.registry],
    });
    info.set({ version }, 1);
    this.#tallied("agenttx_steps_total", "Steps by tool and status", this.#steps, [
      "tool",
      "status",
    ]);
    this.#tallied("agenttx_calls_total", "Calls by face, method and code", this.#calls, [
      "face",
      "method",
      "code",
    ]);
    // Structurally a metric: name, type and `get` are what a registry uses.
    this.registry.registerMetric(this.#callDurations as unknown as Counter);
  }

  /** Counts one call; `method` and `code` are names of ours, so the labels are bounded. */
  called(face: string, method: string, code: string, ms: number): void {
    this.#calls.add(face, method, code);
    this.#callDurations.observe(face, method, ms / 1_000);
  }

  stepped(tool: string, status: "success" | "failed"): void {
    this.#steps.add(this.toolLabel(tool), status);
  }

  /** The label of a tool: its name, or "other" when there are too many. */
  toolLabel(tool: string): string {
    if (this.#tools.has(tool)) return tool;
    if (this.#tools.size >= TOOL_LABELS_MAX) return "other";
    this.#tools.add(tool);
    return tool;
  }

  #gauge<Label extends string>(name: string, help: string, labelNames: Label[] = []): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** A counter whose values are looked up when it is scraped. */
  #tallied<Label extends string>(
    name: string,
    help: string,
    tally: Tally<Label>,
    labelNames: Label[],
  ): void {
    const counter = new Counter({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect: () => {
        counter.reset();
        for (const { labels, count } of tally.entries()) counter.inc(labels, count);
      },
    });
  }
}
