// Owns server streams over HTTP: server-sent events, one protobuf-JSON message an event. A reader
// that stops reading stops the producer; one that goes away ends it.

import type { effects, transactions, work, workflows } from "@agenttx/wire";
import type { Context } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import type { Credentials } from "../auth/authenticator.js";
import { requireScope, type Scope } from "../auth/principal.js";
import type { CallContext } from "../service/context.js";
import { audit } from "../service/operations.js";
import type { Service } from "../service/service.js";
import { eventToWire, watchFilter } from "../service/watch.js";
import { readWorker } from "../service/work.js";
import { workflowAudit } from "../service/workflow-audit.js";
import { encodeResponse } from "./json-codec.js";

type StreamName = "watchTransactions" | "getAudit" | "getWorkflowAudit" | "pullWork";

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
      if (this.#closed) return null;
      const item = this.#items.shift() ?? pull();
      if (item !== undefined) return item;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }
}

export interface StreamCaller {
  readonly context: CallContext;
  readonly credentials: Credentials;
}

const SCOPES: Readonly<Record<StreamName, Scope>> = {
  watchTransactions: "read",
  getAudit: "read",
  getWorkflowAudit: "read",
  pullWork: "operate",
};

export async function streamEvents(
  c: Context,
  service: Service,
  caller: StreamCaller,
  call: StreamName,
  request: unknown,
): Promise<Response> {
  const { tenants, streams } = service.deps;
  const { context, credentials } = caller;
  const { tenant } = context.principal;
  tenants.request(tenant);
  let end = () => {};
  const release = streams.open({
    credentials,
    tenant,
    renew: (renewed) => requireScope(renewed, SCOPES[call]),
    refuse: () => end(),
    leave: () => end(),
  });
  try {
    const source = await openSource(service, context, call, request);
    end = () => source.close();
    const first = await source.first;
    return streamSSE(c, async (stream) => {
      stream.onAbort(() => source.close());
      try {
        for (let item = first ?? (await source.next()); item !== null; item = await source.next()) {
          await write(stream, call, item);
        }
      } finally {
        source.close();
        release();
      }
    });
  } catch (error) {
    end();
    release();
    throw error;
  }
}

interface Source {
  /** Rejects when the call is refused, before the stream begins; null: nothing yet. */
  readonly first: Promise<unknown>;
  /** null: no more. */
  next(): Promise<unknown>;
  /** Idempotent. */
  close(): void;
}

async function openSource(
  service: Service,
  context: CallContext,
  call: StreamName,
  request: unknown,
): Promise<Source> {
  switch (call) {
    case "getAudit":
      return listSource(audit(service.deps, context, request as effects.GetAuditRequest));
    case "getWorkflowAudit":
      return listSource(
        workflowAudit(service.deps, context, request as workflows.GetWorkflowAuditRequest),
      );
    case "pullWork":
      return workSource(service, context, request as work.PullWorkRequest);
    case "watchTransactions":
      return watchSource(service, context, request as transactions.WatchTransactionsRequest);
  }
}

/** What has an end. */
function listSource(entries: AsyncGenerator<unknown, void>): Source {
  let closed = false;
  const next = async () => {
    if (closed) return null;
    const { value, done } = await entries.next();
    return done === true ? null : value;
  };
  const close = () => {
    closed = true;
  };
  return { first: next(), next, close };
}

function workSource(service: Service, context: CallContext, request: work.PullWorkRequest): Source {
  const mailbox = new Mailbox<work.PullWorkResponse>();
  const worker = readWorker(context, request, mailbox.push);
  let disconnect: (() => void) | null = service.deps.work.connect(worker);
  const close = () => {
    disconnect?.();
    disconnect = null;
    mailbox.close();
  };
  return { first: NOTHING_YET, next: () => mailbox.next(), close };
}

async function watchSource(
  service: Service,
  context: CallContext,
  request: transactions.WatchTransactionsRequest,
): Promise<Source> {
  const wanted = await watchFilter(service.deps, context, request);
  const mailbox = new Mailbox<transactions.WatchTransactionsResponse>();
  const watcher = service.deps.events.watch(wanted, mailbox.wake);
  const pull = () => {
    const next = watcher.take();
    return next === undefined ? undefined : eventToWire(next.event, next.dropped);
  };
  const close = () => {
    watcher.close();
    mailbox.close();
  };
  return { first: NOTHING_YET, next: () => mailbox.next(pull), close };
}

const NOTHING_YET = Promise.resolve(null);

async function write(stream: SSEStreamingApi, call: StreamName, item: unknown): Promise<void> {
  await stream.writeSSE({ event: call, data: JSON.stringify(encodeResponse(call, item)) });
}
