// Owns one session stream on the server.
//
//   N1 Requests of one transaction run in the order they came; abort overtakes, because it is what
//      ends a step that hangs. Transactions do not wait for each other.
//   N2 At most `inFlightMax` requests run or wait; then the stream is not read until one has ended.
//   N3 A reader that does not take its answers stops the reading of its requests: memory stays
//      bounded by the requests in flight.
//   N4 When the stream ends, what runs goes on; its result is durable and repeated requests get it.
//      What waits is dropped: it has not begun.
//   N5 A request past its deadline is answered UNAVAILABLE and goes on, as in N4.

import { AgentTxError } from "@agenttx/model";
import type { session } from "@agenttx/wire";
import type { ServerDuplexStream } from "@grpc/grpc-js";
import type { Credentials } from "../auth/authenticator.js";
import type { OpenStream } from "../auth/open-streams.js";
import type { Principal } from "../auth/principal.js";
import { type Deadline, deadlineExceeded } from "../limits/deadlines.js";
import type { CallContext } from "../service/context.js";
import type { Service, UnaryName } from "../service/service.js";
import { serviceError } from "./unary.js";

export type SessionCall = ServerDuplexStream<session.SessionRequest, session.SessionResponse>;
type Request = NonNullable<session.SessionRequest["request"]>;
type Response = session.SessionResponse["response"];

/** Call of the service by the name of its message. */
const CALLS = {
  begin: "beginTransaction",
  step: "executeStep",
  commit: "commitTransaction",
  rollback: "rollbackTransaction",
  get: "getTransaction",
  reportFailure: "reportFailure",
  prepare: "prepareStep",
  complete: "completeStep",
  registerUndo: "registerUndo",
} as const satisfies Record<Request["$case"], UnaryName>;

/** How long a client has to read its goaway and to end the stream itself. */
const LEAVE_MS = 300;
const RECONNECT_AFTER_MS = 200;

/** What of one transaction runs and waits on this stream. */
interface Lane {
  running: number;
  waiting: Work[] | null;
}

/** One request until it is answered. */
class Work implements Deadline {
  readonly session: Session;
  readonly correlationId: number;
  readonly request: Request;
  readonly deadlineMs: number;
  readonly expiresAt: number;
  answered = false;

  constructor(session: Session, correlationId: number, request: Request, deadlineMs: number) {
    this.session = session;
    this.correlationId = correlationId;
    this.request = request;
    this.deadlineMs = deadlineMs;
    this.expiresAt = performance.now() + deadlineMs;
  }

  expire(): void {
    this.session.expire(this);
  }
}

export class Session implements OpenStream {
  readonly credentials: Credentials;
  readonly tenant: string;
  readonly #call: SessionCall;
  readonly #service: Service;
  readonly #inFlightMax: number;
  #context: CallContext;
  readonly #lanes = new Map<string, Lane>();
  #inFlight = 0;
  #full = false;
  /** No more requests will be read; the stream ends when nothing is in flight. */
  #lastCall = false;
  #ended = false;

  constructor(
    call: SessionCall,
    service: Service,
    caller: { readonly principal: Principal; readonly credentials: Credentials },
    inFlightMax: number,
  ) {
    this.#call = call;
    this.#service = service;
    this.credentials = caller.credentials;
    this.tenant = caller.principal.tenant;
    this.#context = { principal: caller.principal, face: "session" };
    this.#inFlightMax = inFlightMax;
  }

  /** Begins to read; `closed` is called once, when the stream is no more. */
  start(closed: () => void): void {
    const call = this.#call;
    let open = true;
    const close = () => {
      this.#ended = true;
      this.#lanes.clear();
      if (open) closed();
      open = false;
    };
    for (const name of ["cancelled", "close", "error", "finish"]) call.on(name, close);
    call.on("drain", () => {
      this.#full = false;
      this.#resume();
    });
    call.on("end", () => this.#finish());
    call.on("data", (message: session.SessionRequest) => this.#receive(message));
  }

  renew(principal: Principal): void {
    if (this.#context.principal === principal) return;
    this.#context = { ...this.#context, principal };
  }

  refuse(error: AgentTxError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#call.pause();
    this.#call.emit("error", serviceError(this.#service.wireError(error, "session")));
  }

  leave(): void {
    this.#send(0, { $case: "goaway", value: { reconnectAfterMs: RECONNECT_AFTER_MS } });
    setTimeout(() => {
      this.#call.pause();
      this.#finish();
    }, LEAVE_MS).unref();
  }

  /** Called by the deadline of a request (N5). */
  expire(work: Work): void {
    this.#answer(work, this.#failure(deadlineExceeded(work.deadlineMs), work.request.$case));
  }

  #receive(message: session.SessionRequest): void {
    const { correlationId, request } = message;
    if (this.#ended || this.#lastCall) return;
    if (request === undefined) {
      const error = new AgentTxError(
        "INVALID_ARGUMENT",
        "A request without content; nothing was done.",
      );
      this.#send(correlationId, this.#failure(error, "session"));
      return;
    }
    this.#inFlight += 1;
    if (this.#inFlight >= this.#inFlightMax) this.#call.pause();
    const { deadlines, deadlineDefaultMs } = this.#service.deps;
    const deadlineMs = message.deadlineMs === 0 ? deadlineDefaultMs : message.deadlineMs;
    const work = new Work(this, correlationId, request, deadlineMs);
    if (deadlineMs > 0) deadlines.add(work);
    if (request.$case === "begin") {
      void this.#run(work, null, "");
      return;
    }
    const id = request.value.transactionId;
    const lane = this.#lanes.get(id);
    if (lane === undefined) {
      const first: Lane = { running: 1, waiting: null };
      this.#lanes.set(id, first);
      void this.#run(work, first, id);
    } else if (isAbort(request)) {
      lane.running += 1;
      void this.#run(work, lane, id);
    } else {
      lane.waiting ??= [];
      lane.waiting.push(work);
    }
  }

  async #run(work: Work, lane: Lane | null, id: string): Promise<void> {
    const { request } = work;
    let response: Response;
    try {
      // The table pairs each message with its call, so the value fits; the compiler cannot follow.
      const value = await this.#service.call(
        CALLS[request.$case],
        this.#context,
        request.value as never,
      );
      response = { $case: request.$case, value } as Response;
    } catch (error) {
      response = this.#failure(error, request.$case);
    }
    this.#answer(work, response);
    this.#inFlight -= 1;
    if (lane !== null) this.#next(lane, id);
    if (this.#lastCall) this.#finish();
    else this.#resume();
  }

  #next(lane: Lane, id: string): void {
    lane.running -= 1;
    if (lane.running > 0) return;
    if (this.#ended) return;
    const work = lane.waiting?.shift();
    if (work === undefined) {
      this.#lanes.delete(id);
      return;
    }
    lane.running += 1;
    void this.#run(work, lane, id);
  }

  #failure(error: unknown, method: string): Response {
    const { status, reason, message, details, retryable } = this.#service.wireError(error, method);
    return {
      $case: "error",
      value: { status, reason, message, details: { ...details }, retryable },
    };
  }

  #answer(work: Work, response: Response): void {
    if (work.answered) return;
    work.answered = true;
    this.#service.deps.deadlines.delete(work);
    this.#send(work.correlationId, response);
  }

  #send(correlationId: number, response: Response): void {
    if (this.#ended) return;
    if (!this.#call.write({ correlationId, response })) {
      this.#full = true;
      this.#call.pause();
    }
  }

  #resume(): void {
    if (this.#ended || this.#lastCall || this.#full) return;
    if (this.#inFlight < this.#inFlightMax && this.#call.isPaused()) this.#call.resume();
  }

  /** Nothing more is read: ends now, or with the last answer. */
  #finish(): void {
    this.#lastCall = true;
    if (this.#ended || this.#inFlight > 0) return;
    this.#ended = true;
    this.#call.end();
  }
}

function isAbort(request: Request): boolean {
  return request.$case === "rollback" && (request.value.toStep ?? 0) === 0;
}
