// Owns what the calls are made of.

import type { Engine } from "@agenttx/engine";
import type { Store } from "@agenttx/model";
import type { Recovery } from "@agenttx/recovery";
import type { Logger } from "pino";
import type { OpenStreams } from "../auth/open-streams.js";
import type { Deadlines } from "../limits/deadlines.js";
import type { Tenants } from "../limits/tenants.js";
import type { EventHub } from "../observe/event-hub.js";
import type { Metrics } from "../observe/metrics.js";
import type { RemoteTools } from "../work/remote-tools.js";
import type { WorkQueue } from "../work/work-queue.js";

export interface ServiceDeps {
  readonly engine: Engine;
  readonly store: Store;
  readonly recovery: Recovery;
  readonly tenants: Tenants;
  readonly streams: OpenStreams;
  readonly deadlines: Deadlines;
  /** Milliseconds for calls that give none; 0 = no deadline. */
  readonly deadlineDefaultMs: number;
  readonly metrics: Metrics;
  readonly events: EventHub;
  readonly log: Logger;
  readonly remote: RemoteTools;
  readonly work: WorkQueue;
  /** True once the server drains: new transactions are refused. */
  readonly draining: () => boolean;
}
