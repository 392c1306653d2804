// Owns the work of tools that live outside: compensation, undo, lookup, verification, delivery.
// The engine waits on an item like on any tool call; a worker of the tenant takes it by tool name.
//
//   W1 An item is with one worker at a time; a worker that goes away gives its items back.
//   W2 An item ends with its first accepted answer, its deadline, or the server's end. What is
//      durable about it is the engine's: after a restart the engine asks again.
//   W3 A worker's room is given back however the item ends.

import { AgentTxError } from "@agenttx/model";
import { uuidv7 } from "uuidv7";

export type WorkKind = "compensate" | "undo" | "lookup" | "verify" | "deliver";

export interface WorkItem {
  readonly workId: string;
  readonly tenant: string;
  readonly kind: WorkKind;
  readonly tool: string;
  readonly toolVersion: string;
  readonly transaction: string;
  readonly step: number;
  readonly effectId: string;
  readonly idempotencyKey: string;
  readonly undoKey: string;
  readonly argumentsJson: string;
  readonly outputJson: string;
  readonly action: string;
  readonly deadlineMs: number;
}

export interface WorkAnswer {
  readonly status: string;
  readonly outputJson: string;
  readonly message: string;
}

interface Open {
  readonly item: WorkItem;
  readonly sinceMs: number;
  readonly resolve: (answer: WorkAnswer) => void;
  holder: WorkerSlot | null;
}

export interface WorkerSlot {
  readonly tenant: string;
  readonly workerId: string;
  readonly tools: ReadonlySet<string>;
  readonly inFlightMax: number;
  readonly give: (item: WorkItem) => void;
}

export class WorkQueue {
  readonly #open = new Map<string, Open>();
  readonly #workers = new Map<WorkerSlot, number>();

  /** True while a worker of this tenant serves this tool. */
  serves(tool: string, tenant: string): boolean {
    for (const worker of this.#workers.keys()) {
      if (worker.tenant === tenant && worker.tools.has(tool)) return true;
    }
    return false;
  }

  /** Waits for a worker's answer. Rejects when `signal` aborts: the engine retries by its rules. */
  request(item: Omit<WorkItem, "workId">, signal: AbortSignal): Promise<WorkAnswer> {
    const workId = uuidv7();
    return new Promise((resolve, reject) => {
      const stop = () => {
        const open = this.#open.get(workId);
        if (open !== undefined) this.#close(open);
        reject(
          new AgentTxError("UNAVAILABLE", `No worker answered for \`${item.tool}\` in time.`, {
            details: { tool: item.tool, kind: item.kind },
          }),
        );
      };
      if (signal.aborted) {
        stop();
        return;
      }
      signal.addEventListener("abort", stop, { once: true });
      const open: Open = {
        item: { ...item, workId },
        sinceMs: performance.now(),
        holder: null,
        resolve: (answer) => {
          signal.removeEventListener("abort", stop);
          resolve(answer);
        },
      };
      this.#open.set(workId, open);
      this.#offer(open);
    });
  }

  /** Connects a worker; the returned function disconnects it and gives its items back. */
  connect(worker: WorkerSlot): () => void {
    this.#workers.set(worker, 0);
    this.#offerWaiting();
    return () => {
      this.#workers.delete(worker);
      for (const open of this.#open.values()) {
        if (open.holder !== worker) continue;
        open.holder = null;
        this.#offer(open);
      }
    };
  }

  /** The item a worker holds, or null when it is not this worker's any more. */
  held(tenant: string, workerId: string, workId: string): WorkItem | null {
    const open = this.#open.get(workId);
    if (open?.holder?.workerId !== workerId || open.item.tenant !== tenant) return null;
    return open.item;
  }

  /** False when the item is not this worker's any more: its answer changes nothing. */
  complete(tenant: string, workerId: string, workId: string, answer: WorkAnswer): boolean {
    const open = this.#open.get(workId);
    if (open === undefined || this.held(tenant, workerId, workId) === null) return false;
    this.#close(open);
    open.resolve(answer);
    return true;
  }

  /** Items without a worker, and the age of the oldest in milliseconds. */
  waiting(): { readonly count: number; readonly oldestMs: number } {
    let count = 0;
    let oldestMs = 0;
    for (const open of this.#open.values()) {
      if (open.holder !== null) continue;
      count += 1;
      oldestMs = Math.max(oldestMs, performance.now() - open.sinceMs);
    }
    return { count, oldestMs };
  }

  #close(open: Open): void {
    this.#open.delete(open.item.workId);
    const { holder } = open;
    const held = holder === null ? undefined : this.#workers.get(holder);
    if (holder === null || held === undefined) return;
    this.#workers.set(holder, held - 1);
    this.#offerWaiting();
  }

  #offerWaiting(): void {
    for (const open of this.#open.values()) if (open.holder === null) this.#offer(open);
  }

  #offer(open: Open): void {
    for (const [worker, held] of this.#workers) {
      if (worker.tenant !== open.item.tenant || !worker.tools.has(open.item.tool)) continue;
      if (held >= worker.inFlightMax) continue;
      open.holder = worker;
      this.#workers.set(worker, held + 1);
      worker.give(open.item);
      return;
    }
  }
}
