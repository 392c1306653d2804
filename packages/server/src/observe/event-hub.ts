// Owns the fan-out of engine events: to metrics, to the log, to watchers. A slow watcher loses
// events and is told how many; it never holds the engine up.

import type { EngineEvent, EngineObserver } from "@agenttx/engine";
import type { Logger } from "pino";
import { wantsDebug } from "./logger.js";
import type { Metrics } from "./metrics.js";

const WATCHER_EVENTS_MAX = 1_000;

export interface WatchedEvent {
  readonly event: EngineEvent;
  /** Events lost before this one. */
  readonly dropped: number;
}

interface Watcher {
  readonly wants: (event: EngineEvent) => boolean;
  readonly wake: () => void;
  readonly queue: WatchedEvent[];
  dropped: number;
}

export class EventHub implements EngineObserver {
  readonly #metrics: Metrics;
  readonly #log: Logger;
  readonly #watchers = new Set<Watcher>();
  readonly #onLife: (event: EngineEvent, open: boolean) => void;

  /** `onLife` is called when a transaction begins (`open`) and when it ends. */
  constructor(metrics: Metrics, log: Logger, onLife: (event: EngineEvent, open: boolean) => void) {
    this.#metrics = metrics;
    this.#log = log;
    this.#onLife = onLife;
  }

  onEvent(event: EngineEvent): void {
    this.#count(event);
    if (event.kind === "begin") this.#onLife(event, true);
    else if (event.kind === "committed" || event.kind === "aborted") this.#onLife(event, false);
    if (wantsDebug(this.#log)) {
      const { kind, transaction, step, tool, data } = event;
      this.#log.debug({ transaction, step, tool, ...data }, kind);
    }
    for (const watcher of this.#watchers) {
      if (!watcher.wants(event)) continue;
      if (watcher.queue.length >= WATCHER_EVENTS_MAX) {
        watcher.dropped += 1;
        continue;
      }
      watcher.queue.push({ event, dropped: watcher.dropped });
      watcher.dropped = 0;
      watcher.wake();
    }
  }

  /** `wake` is called when there is something to take; `close` ends it. */
  watch(wants: (event: EngineEvent) => boolean, wake: () => void) {
    const watcher: Watcher = { wants, wake, queue: [], dropped: 0 };
    this.#watchers.add(watcher);
    return {
      take: (): WatchedEvent | undefined => watcher.queue.shift(),
      close: (): void => {
        this.#watchers.delete(watcher);
      },
    };
  }

  #count(event: EngineEvent): void {
    const metrics = this.#metrics;
    switch (event.kind) {
      case "step-succeeded":
        metrics.stepped(event.tool ?? "", "success");
        break;
      case "step-failed":
        metrics.stepped(event.tool ?? "", "failed");
        break;
      case "decision":
        metrics.rollbacks.inc({ strategy: String(event.data.strategy ?? "MANUAL") });
        break;
      case "compensation-finished":
        // The engine tells of each effect (with its tries) and of the whole rollback.
        if (event.data.undoAttempts !== undefined) {
          metrics.compensations.inc({ result: "compensated" });
        }
        break;
      case "effect-unresolved":
        if (event.data.waitsFor !== undefined) metrics.compensations.inc({ result: "unresolved" });
        break;
      case "committed":
      case "conflict":
      case "aborted":
      case "frozen":
        metrics.transactions.inc({ status: event.kind });
        break;
      case "effect-delivered":
      case "effect-parked":
        metrics.deliveries.inc({ result: event.kind === "effect-parked" ? "parked" : "delivered" });
        break;
      default:
        break;
    }
  }
}
