// Owns the server streams: watch, audit, work. Each stops producing while its reader is slow.

import type { effects, transactions, work, workflows } from "@agenttx/wire";
import { Metadata, type ServerWritableStream } from "@grpc/grpc-js";
import type { Authenticator } from "../auth/authenticator.js";
import { requireScope, type Scope } from "../auth/principal.js";
import type { CallContext } from "../service/context.js";
import { audit } from "../service/operations.js";
import type { Service } from "../service/service.js";
import { eventToWire, watchFilter } from "../service/watch.js";
import { readWorker } from "../service/work.js";
import { workflowAudit } from "../service/workflow-audit.js";
import { credentialsOf } from "./credentials.js";
import { serviceError } from "./unary.js";

type Stream<Request, Response> = ServerWritableStream<Request, Response>;

export class StreamFace {
  readonly #service: Service;
  readonly #authenticator: Authenticator;

  constructor(service: Service, authenticator: Authenticator) {
    this.#service = service;
    this.#authenticator = authenticator;
  }

  readonly audit = (call: Stream<effects.GetAuditRequest, effects.GetAuditResponse>): void => {
    void this.#serve(call, "getAudit", "read", (context) =>
      sendAll(call, audit(this.#service.deps, context, call.request)),
    );
  };

  readonly workflowAudit = (
    call: Stream<workflows.GetWorkflowAuditRequest, workflows.GetWorkflowAuditResponse>,
  ): void => {
    void this.#serve(call, "getWorkflowAudit", "read", (context) =>
      sendAll(call, workflowAudit(this.#service.deps, context, call.request)),
    );
  };

  readonly watch = (
    call: Stream<transactions.WatchTransactionsRequest, transactions.WatchTransactionsResponse>,
  ): void => {
    void this.#serve(call, "watchTransactions", "read", async (context, onEnd) => {
      const wanted = await watchFilter(this.#service.deps, context, call.request);
      let flowing = true;
      const flush = () => {
        while (flowing && !call.cancelled && !call.writableEnded) {
          const next = watcher.take();
          if (next === undefined) return;
          flowing = call.write(eventToWire(next.event, next.dropped));
        }
      };
      const watcher = this.#service.deps.events.watch(wanted, flush);
      call.on("drain", () => {
        flowing = true;
        flush();
      });
      onEnd(() => watcher.close());
      // Headers now: a client knows that it is connected before the first event.
      call.sendMetadata(new Metadata());
    });
  };

  readonly pull = (call: Stream<work.PullWorkRequest, work.PullWorkResponse>): void => {
    void this.#serve(call, "pullWork", "operate", async (context, onEnd) => {
      const worker = readWorker(context, call.request, (message) => call.write(message));
      onEnd(this.#service.deps.work.connect(worker));
      call.sendMetadata(new Metadata());
    });
  };

  async #serve<Request, Response>(
    call: Stream<Request, Response>,
    method: string,
    scope: Scope,
    run: (context: CallContext, onEnd: (end: () => void) => void) => Promise<void>,
  ): Promise<void> {
    const { streams, tenants } = this.#service.deps;
    const refuse = (error: unknown) => {
      call.emit("error", serviceError(this.#service.wireError(error, method)));
    };
    call.on("error", () => {});
    try {
      const credentials = credentialsOf(call);
      const principal = this.#authenticator.authenticate(credentials);
      tenants.request(principal.tenant);
      const close = streams.open({
        credentials,
        tenant: principal.tenant,
        renew: (renewed) => requireScope(renewed, scope),
        refuse,
        leave: () => call.end(),
      });
      onEnd(call, close);
      await run({ principal, face: "grpc" }, (end) => onEnd(call, end));
    } catch (error) {
      refuse(error);
    }
  }
}

/** Calls `end` once when the stream is over, at once when it already is. */
function onEnd<Request, Response>(call: Stream<Request, Response>, end: () => void): void {
  let open = true;
  const once = () => {
    if (open) end();
    open = false;
  };
  for (const name of ["cancelled", "close", "error", "finish"]) call.on(name, once);
  if (call.cancelled || call.destroyed) once();
}

/** Waits while the reader is slow, and ends when it goes away. */
async function sendAll<Request, Response>(
  call: Stream<Request, Response>,
  entries: AsyncIterable<Response>,
): Promise<void> {
  for await (const entry of entries) {
    if (call.cancelled || call.destroyed || call.writableEnded) return;
    if (!call.write(entry)) await drained(call);
  }
  call.end();
}

function drained<Request, Response>(call: Stream<Request, Response>): Promise<void> {
  const names = ["drain", "cancelled", "close", "error", "finish"];
  return new Promise((resolve) => {
    const done = () => {
      for (const name of names) call.off(name, done);
      resolve();
    };
    for (const name of names) call.on(name, done);
  });
}
