// Owns the server streams: watch, audit, work. Each stops producing while its reader is slow.

import type { EngineEvent } from "@agenttx/engine";
import type { effects, transactions, work } from "@agenttx/wire";
import type { ServerWritableStream } from "@grpc/grpc-js";
import type { Authenticator } from "../auth/authenticator.js";
import { requireScope } from "../auth/principal.js";
import type { CallContext } from "../service/context.js";
import { audit } from "../service/operations.js";
import type { Service } from "../service/service.js";
import { readWorker } from "../service/work.js";
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
    void this.#guard(call, "getAudit", async (context) => {
      for await (const entry of audit(this.#service.deps, context, call.request)) {
        if (call.cancelled) return;
        if (!call.write(entry)) await drained(call);
      }
      call.end();
    });
  };

  readonly watch = (
    call: Stream<transactions.WatchTransactionsRequest, transactions.WatchTransactionsResponse>,
  ): void => {
    void this.#guard(call, "watchTransactions", async (context) => {
      requireScope(context.principal, "read");
      const { tenant } = context.principal;
      const { transactionId } = call.request;
      // Ids are unguessable, but a tenant still sees its own only.
      const mine = (event: EngineEvent) =>
        event.namespace === tenant && (transactionId === "" || event.transaction === transactionId);
      let flowing = true;
      const flush = () => {
        while (flowing && !call.cancelled) {
          const next = watcher.take();
          if (next === undefined) return;
          flowing = call.write(toMessage(next.event, next.dropped));
        }
      };
      const watcher = this.#service.deps.events.watch(mine, flush);
      call.on("drain", () => {
        flowing = true;
        flush();
      });
      onEnd(call, () => watcher.close());
    });
  };

  readonly pull = (call: Stream<work.PullWorkRequest, work.PullWorkResponse>): void => {
    void this.#guard(call, "pullWork", async (context) => {
      const worker = readWorker(context, call.request, (message) => call.write(message));
      onEnd(call, this.#service.deps.work.connect(worker));
    });
  };

  async #guard<Request, Response>(
    call: Stream<Request, Response>,
    method: string,
    run: (context: CallContext) => Promise<void>,
  ): Promise<void> {
    try {
      const principal = this.#authenticator.authenticate(credentialsOf(call));
      this.#service.deps.tenants.request(principal.tenant);
      await run({ principal, face: "grpc", signal: null });
    } catch (error) {
      call.on("error", () => {});
      call.emit("error", serviceError(this.#service.wireError(error, method)));
    }
  }
}

export function toMessage(
  event: EngineEvent,
  dropped: number,
): transactions.WatchTransactionsResponse {
  const data = Object.entries(event.data).map(([name, value]) => [name, String(value)] as const);
  return {
    kind: event.kind,
    transactionId: event.transaction,
    stepId: event.step,
    toolName: event.tool ?? "",
    atMs: BigInt(Math.round(event.atMs)),
    data: Object.fromEntries(data),
    dropped,
  };
}

function onEnd<Request, Response>(call: Stream<Request, Response>, end: () => void): void {
  let open = true;
  const once = () => {
    if (open) end();
    open = false;
  };
  call.on("cancelled", once);
  call.on("close", once);
  call.on("error", once);
}

function drained<Request, Response>(call: Stream<Request, Response>): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const name of ["drain", "cancelled", "close", "error"]) call.off(name, done);
      resolve();
    };
    for (const name of ["drain", "cancelled", "close", "error"]) call.on(name, done);
  });
}
