// Owns the composition: store, engine, faces, and the order in which they come and go.
//
//   O1 Both faces listen before recovery ends: new work is served while old work is taken up.
//   O2 Stopping: no new transactions, streams are told to leave, calls in flight are awaited at most
//      `drainTimeoutMs`, the engine marks what is open, the store closes. What is open goes on at
//      the next start.

import { createEngine, type RecoveryReport, type ToolShape } from "@agenttx/engine";
import { AgentTxError } from "@agenttx/model";
import { createRecovery, type RecoveryOptions, type ResumeReport } from "@agenttx/recovery";
import { openStore } from "@agenttx/storage";
import { requireCertified } from "@agenttx/tools/adapter-kit";
import type { Logger } from "pino";
import { Authenticator } from "./auth/authenticator.js";
import { OpenStreams } from "./auth/open-streams.js";
import { TokenFile } from "./auth/tokens.js";
import { GrpcServer } from "./grpc/grpc-server.js";
import { createHttpApp } from "./http/app.js";
import { HttpServer } from "./http/http-server.js";
import { Deadlines } from "./limits/deadlines.js";
import { Lifetimes } from "./limits/lifetimes.js";
import { Tenants } from "./limits/tenants.js";
import { EventHub } from "./observe/event-hub.js";
import { makeLogger } from "./observe/logger.js";
import { Metrics } from "./observe/metrics.js";
import { type Sampler, startSampler } from "./observe/sampler.js";
import { StepTraces } from "./observe/tracing.js";
import type { Readiness } from "./readiness.js";
import type { ServiceDeps } from "./service/deps.js";
import { Service } from "./service/service.js";
import type { Settings } from "./settings.js";
import { serverTools } from "./tools.js";
import { VERSION } from "./version.js";
import { RemoteTools } from "./work/remote-tools.js";
import { WorkQueue } from "./work/work-queue.js";

export interface ServerOptions {
  readonly settings: Settings;
  /** Beside the built-in ones; one of the same name replaces the built-in. */
  readonly tools?: readonly ToolShape[];
  /** What the application knows of its workflows (C4, C7). */
  readonly recovery?: Pick<
    RecoveryOptions,
    "invariants" | "schemaVersion" | "migrations" | "checkpoints"
  >;
  /** Default: JSON lines on stderr. */
  readonly log?: Logger;
}

export interface RunningServer extends AsyncDisposable {
  /** Bound ports; null for a unix socket or when the face is off. */
  readonly grpcPort: number | null;
  readonly httpPort: number | null;
  /** Resolves when what was open at the start has been taken care of. */
  readonly recovered: Promise<RecoveryReport>;
  /** Resolves when every interrupted recovery of a workflow has gone on as far as it can. */
  readonly workflowsResumed: Promise<ResumeReport>;
  readiness(): Readiness;
  /** Stops taking new transactions; what is open goes on. */
  drain(): void;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Opens the store and serves. Throws AgentTxError before anything listens when it cannot. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { settings } = options;
  const log = options.log ?? makeLogger(settings.logLevel);
  const tokens =
    settings.tokensFile === undefined
      ? null
      : new TokenFile(settings.tokensFile, (message) => log.warn(message));
  const authenticator = new Authenticator(tokens, settings.tlsClientCa !== undefined);
  const own = certified(options.tools ?? [], settings);
  const names = new Set(own.map(({ name }) => name));
  const tools = [...serverTools(settings).filter(({ name }) => !names.has(name)), ...own];
  const store = await openStore({
    path: settings.dataDir,
    syncWrites: settings.syncWrites,
    freeSpaceReserveBytes: settings.freeSpaceReserveBytes,
  });
  for (const warning of store.warnings) log.warn(warning);
  try {
    return await new Composition({
      settings,
      log,
      authenticator,
      tools,
      store,
      recovery: options.recovery ?? {},
    }).start();
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Throws TOOL_INVALID with the names of those that are not. */
function certified(
  tools: readonly ToolShape[],
  { requireCertified: required, trust }: Settings,
): readonly ToolShape[] {
  return required || trust.length > 0 ? requireCertified(tools, { trust }) : tools;
}

interface Parts {
  readonly settings: Settings;
  readonly log: Logger;
  readonly authenticator: Authenticator;
  readonly tools: readonly ToolShape[];
  readonly store: Awaited<ReturnType<typeof openStore>>;
  readonly recovery: NonNullable<ServerOptions["recovery"]>;
}

class Composition {
  readonly #parts: Parts;
  readonly #deps: ServiceDeps;
  readonly #service: Service;
  readonly #grpc: GrpcServer;
  readonly #http: HttpServer;
  readonly #lifetimes: Lifetimes;
  #draining = false;
  #recovery: RecoveryReport | null = null;
  #sampler: Sampler | null = null;
  #closing: Promise<void> | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { settings, log, store, tools, authenticator } = parts;
    const metrics = new Metrics(VERSION);
    const tenants = new Tenants(settings);
    const streams = new OpenStreams(authenticator, tenants);
    const deadlines = new Deadlines();
    const work = new WorkQueue();
    const remote = new RemoteTools(work, settings.remoteDeadlineMs);
    const traces = new StepTraces();
    const events = new EventHub(metrics, log, ({ transaction, namespace }, open) => {
      if (open) {
        tenants.began(namespace);
        this.#lifetimes.began(transaction, namespace);
        return;
      }
      tenants.ended(namespace);
      this.#lifetimes.ended(transaction);
      service.remoteSteps.forget(transaction);
    });
    const engine = createEngine({
      store,
      tools,
      resolveTool: (name, namespace) => remote.find(name, namespace),
      policy: policyOf(settings),
      idleTimeoutMs: settings.idleTimeoutMs,
      retention: settings.retentionMs,
      auditRetention: settings.auditRetentionMs,
      resumeOnStart: settings.resume,
      observer: {
        onEvent: (event) => {
          traces.onEvent(event);
          events.onEvent(event);
        },
      },
    });
    this.#deps = {
      engine,
      store,
      recovery: createRecovery({
        ...parts.recovery,
        engine,
        store,
        onRecovered: ({ durationMs }) => metrics.recoveryDuration.observe(durationMs / 1_000),
      }),
      tenants,
      streams,
      deadlines,
      deadlineDefaultMs: settings.deadlineDefaultMs,
      metrics,
      events,
      log,
      remote,
      work,
      draining: () => this.#draining,
    };
    const service = new Service(this.#deps);
    this.#service = service;
    this.#lifetimes = new Lifetimes(engine, settings.lifetimeMaxMs, log);
    this.#grpc = new GrpcServer(service, authenticator, settings);
    const readiness = () => this.readiness();
    const app = createHttpApp({ service, authenticator, settings, version: VERSION, readiness });
    this.#http = new HttpServer(app, settings);
  }

  async start(): Promise<RunningServer> {
    const { log, settings } = this.#parts;
    await this.#countOpen();
    const { grpcPort, httpPort } = await this.#listenBoth();
    this.#sampler = startSampler(this.#deps);
    // Before anything is settled: a workflow goes on by itself with its last effect (C6).
    await this.#deps.recovery.start();
    const recovered = this.#recover();
    const workflowsResumed = recovered.then(() => this.#resumeWorkflows());
    // Whoever asks for it sees the failure; a server without recovery goes on with new work.
    recovered.catch((error: unknown) => log.error({ err: error }, "recovery failed"));
    workflowsResumed.catch((error: unknown) => log.error({ err: error }, "workflows not resumed"));
    this.#grpc.setServing(true);
    log.info({ grpcPort, httpPort, dataDir: settings.dataDir }, "serving");
    const close = () => {
      this.#closing ??= this.#close();
      return this.#closing;
    };
    return {
      grpcPort: settings.listen.startsWith("unix:") ? null : grpcPort,
      httpPort,
      recovered,
      workflowsResumed,
      readiness: () => this.readiness(),
      drain: () => this.#drain(),
      close,
      [Symbol.asyncDispose]: close,
    };
  }

  readiness(): Readiness {
    const reasons: string[] = [];
    if (this.#draining) reasons.push("draining");
    if (this.#closing !== null) reasons.push("stopping");
    if (this.#sampler?.poisoned() != null) reasons.push("the store refuses writes");
    const report = this.#recovery;
    return {
      ready: reasons.length === 0,
      reasons,
      recovery: {
        done: report?.done ?? false,
        found: report?.found ?? 0,
        resumed: report?.resumed ?? 0,
        rolledBack: report?.rolledBack ?? 0,
        frozen: report?.frozen.length ?? 0,
        problems: report?.problems.length ?? 0,
      },
    };
  }

  /** Both or none: a face that was bound is closed again when the other cannot be. */
  async #listenBoth(): Promise<{ grpcPort: number | null; httpPort: number | null }> {
    const { listen, httpListen } = this.#parts.settings;
    try {
      const grpcPort = await this.#listen("--listen", listen, () => this.#grpc.listen());
      const httpPort = await this.#listen("--http-listen", httpListen, () => this.#http.listen());
      return { grpcPort, httpPort };
    } catch (error) {
      await this.#grpc.close(Promise.resolve());
      this.#deps.streams.close();
      await this.#deps.engine.close();
      throw error;
    }
  }

  async #listen(flag: string, address: string, listen: () => Promise<number | null>) {
    try {
      return await listen();
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : "unknown reason";
      throw new AgentTxError("INVALID_ARGUMENT", `${flag} ${address} cannot be used: ${why}`, {
        cause,
      });
    }
  }

  async #recover(): Promise<RecoveryReport> {
    const { engine, metrics, log } = this.#deps;
    const report = await engine.recover({
      onProgress: (progress) => {
        this.#recovery = progress;
        const looked = progress.resumed + progress.rolledBack + progress.problems.length;
        metrics.recoveryRemaining.set(Math.max(0, progress.found - looked));
      },
    });
    this.#recovery = report;
    metrics.recoveryRemaining.set(0);
    for (const problem of report.problems)
      log.error(problem, "a transaction could not be recovered");
    if (report.found > 0) log.info({ ...this.readiness().recovery }, "recovered");
    return report;
  }

  async #resumeWorkflows(): Promise<ResumeReport> {
    const { recovery, log } = this.#deps;
    const report = await recovery.resumeAll();
    for (const problem of report.problems) log.error(problem, "a workflow could not be continued");
    const { found, running, waiting } = report;
    if (found > 0) log.info({ found, running, waiting: waiting.length }, "workflows resumed");
    return report;
  }

  /** What is open counts against its tenant's limit from the first call on. */
  async #countOpen(): Promise<void> {
    const { store, tenants } = this.#deps;
    let after: { readonly id: string; readonly namespace: string } | null = null;
    for (;;) {
      const page: Awaited<ReturnType<typeof store.openTransactions>> = await store.openTransactions(
        { limit: COUNT_PAGE, ...(after === null ? {} : { after }) },
      );
      for (const { id, namespace } of page) {
        tenants.began(namespace);
        this.#lifetimes.began(id, namespace);
        after = { id, namespace };
      }
      if (page.length < COUNT_PAGE) return;
    }
  }

  #drain(): void {
    this.#draining = true;
    this.#grpc.setServing(false);
  }

  async #close(): Promise<void> {
    const { streams, deadlines, engine } = this.#deps;
    this.#drain();
    await this.#sampler?.stop();
    this.#lifetimes.close();
    streams.leaveAll();
    const quiet = this.#quiet(this.#parts.settings.drainTimeoutMs);
    await Promise.all([this.#grpc.close(quiet), this.#http.close(quiet)]);
    streams.close();
    await engine.close();
    deadlines.close();
    await this.#parts.store.close();
    this.#parts.log.info("stopped");
  }

  /** Resolves when nothing has run for a moment and no stream is open, or after `graceMs`. */
  async #quiet(graceMs: number): Promise<void> {
    const until = performance.now() + graceMs;
    for (let still = 0; still < QUIET_LOOKS && performance.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, QUIET_LOOK_MS));
      still = this.#service.running + this.#deps.streams.size === 0 ? still + 1 : 0;
    }
  }
}

const COUNT_PAGE = 1_000;
const QUIET_LOOK_MS = 25;
const QUIET_LOOKS = 4;

function policyOf({ maxLocalDepth, maxGlobalResets, replayBudgetFactor }: Settings) {
  return { maxLocalDepth, maxGlobalResets, replayBudgetFactor };
}
