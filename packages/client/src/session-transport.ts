// Owns the session stream: many calls over one bidirectional stream.
//
//   T1 A call leaves `pending` only with its answer, its deadline, its signal, or `close`.
//   T2 When a stream breaks, its unanswered calls are sent again on the next one, in the order in
//      which they were made; request ids make that harmless. A stream that the server asked us to
//      leave may still answer what it has.
//   T3 At most `inFlightMax` calls are unanswered, and nothing is written while the stream is full.
//   T4 A message that is too large fails alone; it never reaches the stream.

import { AgentTxError } from "@agenttx/model";
import { agentTxService, errorFromWire, type session } from "@agenttx/wire";
import type { Client, ClientDuplexStream, ServiceError } from "@grpc/grpc-js";
import {
  abortedError,
  callError,
  closedError,
  deadlineError,
  isStopping,
  mayRepeat,
  tooLargeError,
} from "./call-error.js";
import { MESSAGE_BYTES_MAX, type ResolvedOptions } from "./options.js";
import { reconnectDelay } from "./reconnect-delay.js";
import type { CallKind, CallOptions, RequestOf, ResponseOf, Transport } from "./transport.js";

type Stream = ClientDuplexStream<Buffer, session.SessionResponse>;

interface Pending {
  readonly bytes: Buffer;
  readonly kind: CallKind;
  readonly expiresAt: number;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly signal: AbortSignal | undefined;
  readonly onAbort: (() => void) | null;
  /** Where it was sent; null while it waits to be sent (again). */
  stream: Stream | null;
  tries: number;
}

/** How often deadlines are looked at; one timer for all calls. */
const SWEEP_MS = 100;
/** Room that trailers and framing may need. */
const FRAME_BYTES = 64;

const sendBytes = (bytes: Buffer): Buffer => bytes;

export class SessionTransport implements Transport {
  readonly #client: Client;
  readonly #options: ResolvedOptions;
  /** In the order in which the calls were made. */
  readonly #pending = new Map<number, Pending>();
  /** Correlation ids that wait to be sent, oldest first. */
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
    const { signal } = options;
    if (this.#closed) return Promise.reject(closedError());
    if (signal?.aborted === true) return Promise.reject(abortedError());
    const id = this.#nextId();
    const { deadlineMs } = this.#options;
    let bytes: Buffer;
    try {
      bytes = agentTxService.session.requestSerialize({
        correlationId: id,
        deadlineMs,
        request: { $case: kind, value: request } as session.SessionRequest["request"],
      });
    } catch (cause) {
      return Promise.reject(unencodable(kind, cause));
    }
    if (bytes.length + FRAME_BYTES > MESSAGE_BYTES_MAX) {
      return Promise.reject(tooLargeError(bytes.length, MESSAGE_BYTES_MAX));
    }
    return new Promise((resolve, reject) => {
      const onAbort = signal === undefined ? null : () => this.#settle(id)?.reject(abortedError());
      if (onAbort !== null) signal?.addEventListener("abort", onAbort, { once: true });
      this.#pending.set(id, {
        bytes,
        kind,
        expiresAt: performance.now() + deadlineMs,
        resolve: resolve as (value: never) => void,
        reject,
        signal,
        onAbort,
        stream: null,
        tries: 0,
      });
      this.#queue.push(id);
      this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS);
      if (this.#stream === null) this.#connect();
      this.#flush();
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#reconnecting !== null) clearTimeout(this.#reconnecting);
    const stream = this.#stream;
    this.#stream = null;
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(closedError());
    this.#stopSweeper();
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
    const { path, responseDeserialize } = agentTxService.session;
    const stream: Stream = this.#client.makeBidiStreamRequest(
      path,
      sendBytes,
      responseDeserialize,
      this.#options.metadata("wait"),
    );
    this.#stream = stream;
    this.#writable = true;
    stream.on("data", (message: session.SessionResponse) => this.#receive(stream, message));
    stream.on("drain", () => {
      if (stream !== this.#stream) return;
      this.#writable = true;
      this.#flush();
    });
    stream.on("error", (error: ServiceError) => this.#broken(stream, error));
    stream.on("end", () => this.#broken(stream, null));
  }

  #flush(): void {
    const stream = this.#stream;
    if (stream === null) return;
    let taken = 0;
    while (
      taken < this.#queue.length &&
      this.#writable &&
      this.#inFlight < this.#options.inFlightMax
    ) {
      const pending = this.#pending.get(this.#queue[taken] ?? 0);
      taken += 1;
      if (pending === undefined || pending.stream !== null) continue;
      pending.stream = stream;
      this.#inFlight += 1;
      this.#writable = stream.write(pending.bytes);
    }
    if (taken === this.#queue.length) this.#queue.length = 0;
    else if (taken > 0) this.#queue.splice(0, taken);
  }

  #receive(stream: Stream, message: session.SessionResponse): void {
    const { response, correlationId } = message;
    if (response === undefined) return;
    this.#failures = 0;
    if (response.$case === "goaway") {
      this.#leave(stream, response.value.reconnectAfterMs);
      return;
    }
    const known = this.#pending.get(correlationId);
    if (known === undefined || known.stream !== stream) return;
    if (response.$case === "error" && isStopping(response.value.reason)) {
      this.#repeatLater(correlationId, known);
      return;
    }
    const pending = this.#settle(correlationId);
    if (pending === null) return;
    if (response.$case === "error") pending.reject(errorFromWire(response.value));
    else if (response.$case === pending.kind) pending.resolve(response.value as never);
    else
      pending.reject(new AgentTxError("INTERNAL", `${pending.kind} answered as ${response.$case}`));
    if (this.#queue.length > 0) this.#flush();
  }

  /** Removes a call from the books; null when it was settled before. */
  #settle(id: number): Pending | null {
    const pending = this.#pending.get(id);
    if (pending === undefined) return null;
    this.#pending.delete(id);
    if (pending.onAbort !== null) pending.signal?.removeEventListener("abort", pending.onAbort);
    if (pending.stream !== null) this.#inFlight -= 1;
    return pending;
  }

  /** The server is stopping: the same request is sent again after a pause. */
  #repeatLater(id: number, pending: Pending): void {
    pending.stream = null;
    pending.tries += 1;
    this.#inFlight -= 1;
    const again = () => {
      if (this.#pending.get(id) !== pending || this.#closed) return;
      this.#queue.push(id);
      this.#connect();
      this.#flush();
    };
    setTimeout(again, reconnectDelay(pending.tries, Math.random())).unref();
  }

  #broken(stream: Stream, error: ServiceError | null): void {
    const current = stream === this.#stream;
    if (current) this.#stream = null;
    const mine = [...this.#pending].filter(([, pending]) => pending.stream === stream);
    if (current && error !== null && !mayRepeat(error)) {
      // A refusal of the stream itself (token, quota, version): no repeat will be answered.
      const failure = callError(error, this.#options.address);
      for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(failure);
      return;
    }
    for (const [, pending] of mine) pending.stream = null;
    this.#inFlight -= mine.length;
    this.#queue = [...this.#pending].flatMap(([id, { stream: at }]) => (at === null ? [id] : []));
    if (this.#stream !== null) this.#flush();
    else if (this.#queue.length > 0) {
      this.#reconnect(reconnectDelay(this.#failures++, Math.random()));
    }
  }

  /** The server drains: no new calls on this stream; what it has it may still answer. */
  #leave(stream: Stream, delayMs: number): void {
    if (stream !== this.#stream) return;
    this.#stream = null;
    stream.end();
    this.#reconnect(delayMs);
  }

  #reconnect(delayMs: number): void {
    if (this.#closed || this.#reconnecting !== null) return;
    this.#reconnecting = setTimeout(() => {
      this.#reconnecting = null;
      if (this.#queue.length === 0) return;
      this.#connect();
      this.#flush();
    }, delayMs);
  }

  #sweep(): void {
    if (this.#pending.size === 0) {
      this.#stopSweeper();
      return;
    }
    const now = performance.now();
    const { address, deadlineMs } = this.#options;
    for (const [id, pending] of this.#pending) {
      // Made in order and with equal deadlines: the rest is younger.
      if (now < pending.expiresAt) return;
      this.#settle(id)?.reject(deadlineError(address, deadlineMs));
    }
  }

  #stopSweeper(): void {
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    this.#sweeper = null;
  }
}

function unencodable(kind: CallKind, cause: unknown): AgentTxError {
  return new AgentTxError(
    "INVALID_ARGUMENT",
    `The ${kind} request holds a value of a wrong type.`,
    {
      cause,
    },
  );
}
