// Owns the session stream: many calls over one bidirectional stream.
//
//   T1 A call leaves `pending` only with its answer, its deadline, its signal, or `close`.
//   T2 When the stream breaks, every pending call is sent again on the next one, in the order in
//      which the calls were made; request ids make that harmless.
//   T3 At most `inFlightMax` calls are unanswered, and nothing is written while the stream is full.

import { AgentTxError } from "@agenttx/model";
import { agentTxService, errorFromWire, type session } from "@agenttx/wire";
import type { Client, ClientDuplexStream, ServiceError } from "@grpc/grpc-js";
import { abortedError, callError, closedError, deadlineError, mayRepeat } from "./call-error.js";
import type { ResolvedOptions } from "./options.js";
import { reconnectDelay } from "./reconnect-delay.js";
import type { CallKind, CallOptions, RequestOf, ResponseOf, Transport } from "./transport.js";

type Stream = ClientDuplexStream<session.SessionRequest, session.SessionResponse>;

interface Pending {
  readonly message: session.SessionRequest;
  readonly kind: CallKind;
  readonly expiresAt: number;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly stopListening: () => void;
  sent: boolean;
}

/** How often deadlines are looked at; one timer for all calls. */
const SWEEP_MS = 200;

export class SessionTransport implements Transport {
  readonly #client: Client;
  readonly #options: ResolvedOptions;
  readonly #pending = new Map<number, Pending>();
  /** Correlation ids that wait for room, oldest first. */
  #queue: number[] = [];
  #stream: Stream | null = null;
  #writable = false;
  #inFlight = 0;
  #lastId = 0;
  #failures = 0;
  #closed = false;
  #sweeper: NodeJS.Timeout | null = null;
  #reconnecting: NodeJS.Timeout | null = null;

  constructor(client: Client, options: ResolvedOptions) {
    this.#client = client;
    this.#options = options;
  }

  call<Kind extends CallKind>(
    kind: Kind,
    request: RequestOf<Kind>,
    options: CallOptions = {},
  ): Promise<ResponseOf<Kind>> {
    if (this.#closed) return Promise.reject(closedError());
    if (options.signal?.aborted === true) return Promise.reject(abortedError());
    const id = this.#nextId();
    return new Promise((resolve, reject) => {
      const onAbort = () => this.#settle(id)?.reject(abortedError());
      options.signal?.addEventListener("abort", onAbort, { once: true });
      this.#pending.set(id, {
        message: {
          correlationId: id,
          deadlineMs: this.#options.deadlineMs,
          request: { $case: kind, value: request } as session.SessionRequest["request"],
        },
        kind,
        expiresAt: performance.now() + this.#options.deadlineMs,
        resolve: resolve as (value: never) => void,
        reject,
        stopListening: () => options.signal?.removeEventListener("abort", onAbort),
        sent: false,
      });
      this.#queue.push(id);
      this.#startSweeper();
      if (this.#stream === null) this.#connect();
      this.#flush();
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#reconnecting !== null) clearTimeout(this.#reconnecting);
    this.#stopSweeper();
    const stream = this.#stream;
    this.#stream = null;
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(closedError());
    stream?.end();
  }

  #nextId(): number {
    do {
      this.#lastId = (this.#lastId % 0xffff_ffff) + 1;
    } while (this.#pending.has(this.#lastId));
    return this.#lastId;
  }

  #connect(): void {
    if (this.#closed || this.#stream !== null || this.#reconnecting !== null) return;
    const { path, requestSerialize, responseDeserialize } = agentTxService.session;
    const stream: Stream = this.#client.makeBidiStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      this.#options.metadata(),
    );
    this.#stream = stream;
    this.#writable = true;
    this.#inFlight = 0;
    for (const pending of this.#pending.values()) pending.sent = false;
    this.#queue = [...this.#pending.keys()];
    stream.on("data", (message: session.SessionResponse) => this.#receive(stream, message));
    stream.on("drain", () => {
      this.#writable = true;
      this.#flush();
    });
    stream.on("error", (error: ServiceError) => this.#broken(stream, error));
    stream.on("end", () => this.#broken(stream, null));
  }

  #flush(): void {
    const stream = this.#stream;
    if (stream === null) return;
    let sent = 0;
    while (
      sent < this.#queue.length &&
      this.#writable &&
      this.#inFlight < this.#options.inFlightMax
    ) {
      const pending = this.#pending.get(this.#queue[sent] ?? 0);
      sent += 1;
      if (pending === undefined || pending.sent) continue;
      pending.sent = true;
      this.#inFlight += 1;
      this.#writable = stream.write(pending.message);
    }
    if (sent > 0) this.#queue.splice(0, sent);
  }

  #receive(stream: Stream, message: session.SessionResponse): void {
    if (stream !== this.#stream || message.response === undefined) return;
    this.#failures = 0;
    const { response } = message;
    if (response.$case === "goaway") {
      this.#reconnectLater(stream, response.value.reconnectAfterMs);
      return;
    }
    const pending = this.#settle(message.correlationId);
    if (pending === null) return;
    if (response.$case === "error") pending.reject(errorFromWire(response.value));
    else if (response.$case === pending.kind) pending.resolve(response.value as never);
    else
      pending.reject(new AgentTxError("INTERNAL", `${pending.kind} answered as ${response.$case}`));
    this.#flush();
  }

  /** Removes a call from the books; null when it was settled before. */
  #settle(id: number): Pending | null {
    const pending = this.#pending.get(id);
    if (pending === undefined) return null;
    this.#pending.delete(id);
    pending.stopListening();
    if (pending.sent) this.#inFlight = Math.max(0, this.#inFlight - 1);
    if (this.#pending.size === 0) this.#stopSweeper();
    return pending;
  }

  #broken(stream: Stream, error: ServiceError | null): void {
    if (stream !== this.#stream) return;
    this.#stream = null;
    if (error !== null && !mayRepeat(error)) {
      // A refusal of the stream itself (token, quota, version): no repeat will be answered.
      const failure = callError(error, this.#options.address);
      for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(failure);
      return;
    }
    if (this.#pending.size > 0) this.#reconnect(reconnectDelay(this.#failures++, Math.random()));
  }

  /** The server drains: no new calls on this stream; what is pending is repeated elsewhere. */
  #reconnectLater(stream: Stream, delayMs: number): void {
    this.#stream = null;
    stream.end();
    this.#reconnect(delayMs);
  }

  #reconnect(delayMs: number): void {
    if (this.#closed || this.#reconnecting !== null) return;
    this.#reconnecting = setTimeout(() => {
      this.#reconnecting = null;
      if (this.#pending.size === 0) return;
      this.#connect();
      this.#flush();
    }, delayMs);
  }

  #startSweeper(): void {
    this.#sweeper ??= setInterval(() => {
      const now = performance.now();
      const { address, deadlineMs } = this.#options;
      for (const [id, pending] of this.#pending) {
        if (now >= pending.expiresAt) this.#settle(id)?.reject(deadlineError(address, deadlineMs));
      }
    }, SWEEP_MS);
  }

  #stopSweeper(): void {
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    this.#sweeper = null;
  }
}
