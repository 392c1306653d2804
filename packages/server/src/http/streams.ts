// Owns server streams over HTTP: server-sent events, one protobuf-JSON message an event. A reader
// that stops reading stops the producer; one that goes away ends it.

import type { EngineEvent } from "@agenttx/engine";
import type { effects, transactions, work } from "@agenttx/wire";
import type { Context } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { requireScope } from "../auth/principal.js";
import { toMessage } from "../grpc/streams.js";
import type { CallContext } from "../service/context.js";
import { audit } from "../service/operations.js";
import type { Service } from "../service/service.js";
import { readWorker } from "../service/work.js";
import { encodeResponse } from "./json-codec.js";

type StreamName = "watchTransactions" | "getAudit" | "pullWork";

/** Waiting events of one worker beyond what it may hold are never made, so this cannot grow. */
class Mailbox<Item> {
  readonly #items: Item[] = [];
  #wake: (() => void) | null = null;
  #closed = false;

  readonly push = (item: Item): void => {
    this.#items.push(item);
    this.#wake?.();
  };

  readonly wake = (): void => this.#wake?.();

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  /** The next item, from the mailbox or from `pull`; null when closed. */
  async next(pull: () => Item | undefined = () => undefined): Promise<Item | null> {
    for (;;) {
      const item = this.#items.shift() ?? pull();
      if (item !== undefined) return item;
      if (this.#closed) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }
}

export async function streamEvents(
  c: Context,
  service: Service,
  context: CallContext,
  call: StreamName,
  request: unknown,
): Promise<Response> {
  service.deps.tenants.request(context.principal.tenant);
  const source = openSource(service, context, call, request);
  const first = await source.ready;
  return streamSSE(c, async (stream) => {
    stream.onAbort(() => source.close());
    try {
      for (let item = first ?? (await source.next()); item !== null; item = await source.next()) {
        await write(stream, call, item);
      }
    } finally {
      source.close();
    }
  });
}

interface Source {
  /** Rejects when the call is refused, before the stream begins. */
  readonly ready: Promise<unknown>;
  next(): Promise<unknown>;
  close(): void;
}

function openSource(
  service: Service,
  context: CallContext,
  call: StreamName,
  request: unknown,
): Source {
  if (call === "getAudit") {
    const entries = audit(service.deps, context, request as effects.GetAuditRequest);
    const next = async () => {
      const { value, done } = await entries.next();
      return done === true ? null : value;
    };
    return { ready: next(), next, close: () => void entries.return(undefined) };
  }
  if (call === "pullWork") {
    const mailbox = new Mailbox<work.PullWorkResponse>();
    const worker = readWorker(context, request as work.PullWorkRequest, mailbox.push);
    const disconnect = service.deps.work.connect(worker);
    const close = () => {
      disconnect();
      mailbox.close();
    };
    return { ready: Promise.resolve(null), next: () => mailbox.next(), close };
  }
  requireScope(context.principal, "read");
  const { tenant } = context.principal;
  const { transactionId } = request as transactions.WatchTransactionsRequest;
  const mine = (event: EngineEvent) =>
    event.namespace === tenant && (transactionId === "" || event.transaction === transactionId);
  const mailbox = new Mailbox<transactions.WatchTransactionsResponse>();
  const watcher = service.deps.events.watch(mine, mailbox.wake);
  const pull = () => {
    const next = watcher.take();
    return next === undefined ? undefined : toMessage(next.event, next.dropped);
  };
  const close = () => {
    watcher.close();
    mailbox.close();
  };
  return { ready: Promise.resolve(null), next: () => mailbox.next(pull), close };
}

async function write(stream: SSEStreamingApi, call: StreamName, item: unknown): Promise<void> {
  await stream.writeSSE({ event: call, data: JSON.stringify(encodeResponse(call, item)) });
}
