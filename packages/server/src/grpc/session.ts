// Owns the session stream on the server.
//
//   N1 Requests of one transaction run in the order they came; abort overtakes, because it is what
//      ends a step that hangs. Transactions do not wait for each other.
//   N2 At most `inFlightMax` requests are unanswered; then the stream is not read until one is.
//   N3 A reader that does not take its answers stops the reading of its requests: memory stays
//      bounded by the requests in flight.
//   N4 When the stream ends, what runs goes on; its result is durable and repeated requests get it.

import { AgentTxError } from "@agenttx/model";
import type { session } from "@agenttx/wire";
import type { ServerDuplexStream } from "@grpc/grpc-js";
import type { Authenticator, Credentials } from "../auth/authenticator.js";
import type { Principal } from "../auth/principal.js";
import type { CallContext } from "../service/context.js";
import type { Service } from "../service/service.js";
import { credentialsOf } from "./credentials.js";
import { serviceError } from "./unary.js";

type Call = ServerDuplexStream<session.SessionRequest, session.SessionResponse>;
type Request = NonNullable<session.SessionRequest["request"]>;
type Response = session.SessionResponse["response"];

const RECHECK_MS = 5_000;

export interface SessionLimits {
  readonly inFlightMax: number;
}

/** One open session; `goaway` asks the client to leave. */
export interface OpenSession {
  goaway(reconnectAfterMs: number): void;
  end(): void;
}

export class SessionFace {
  readonly #service: Service;
  readonly #authenticator: Authenticator;
  readonly #limits: SessionLimits;
  readonly open = new Set<OpenSession>();

  constructor(service: Service, authenticator: Authenticator, limits: SessionLimits) {
    this.#service = service;
    this.#authenticator = authenticator;
    this.#limits = limits;
  }

  /** The handler that the gRPC server registers. */
  readonly handle = (call: Call): void => {
    const credentials = credentialsOf(call);
    try {
      const principal = this.#authenticator.authenticate(credentials);
      const release = this.#service.deps.tenants.openSession(principal.tenant);
      const opened = new Session(call, this.#service, principal, this.#limits, () => {
        this.open.delete(opened);
        clearInterval(recheck);
        release();
        this.#service.deps.metrics.sessionsOpen.dec();
      });
      const recheck = setInterval(() => this.#recheck(opened, call, credentials), RECHECK_MS);
      recheck.unref();
      this.open.add(opened);
      this.#service.deps.metrics.sessionsOpen.inc();
    } catch (error) {
      call.on("error", () => {});
      call.emit("error", serviceError(this.#service.wireError(error, "session")));
    }
  };

  /** A token that was revoked or has expired ends its streams too. */
  #recheck(session: Session, call: Call, credentials: Credentials): void {
    try {
      this.#authenticator.recheck(credentials);
    } catch (error) {
      session.stopReading();
      call.emit("error", serviceError(this.#service.wireError(error, "session")));
    }
  }
}

class Session implements OpenSession {
  readonly #call: Call;
  readonly #service: Service;
  readonly #context: CallContext;
  readonly #limits: SessionLimits;
  /** Last request of each transaction, while it runs. */
  readonly #tails = new Map<string, Promise<void>>();
  #inFlight = 0;
  #full = false;
  #ended = false;

  constructor(
    call: Call,
    service: Service,
    principal: Principal,
    limits: SessionLimits,
    closed: () => void,
  ) {
    this.#call = call;
    this.#service = service;
    this.#context = { principal, face: "session", signal: null };
    this.#limits = limits;
    let open = true;
    const close = () => {
      this.#ended = true;
      if (open) closed();
      open = false;
    };
    call.on("data", (message: session.SessionRequest) => this.#receive(message));
    call.on("drain", () => {
      this.#full = false;
      this.#resume();
    });
    call.on("end", () => this.#readerDone());
    call.on("cancelled", close);
    call.on("close", close);
    call.on("error", close);
    call.on("finish", close);
  }

  goaway(reconnectAfterMs: number): void {
    this.#send(0, { $case: "goaway", value: { reconnectAfterMs } });
  }

  end(): void {
    this.#ended = true;
    this.#call.end();
  }

  stopReading(): void {
    this.#ended = true;
    this.#call.pause();
  }

  #receive(message: session.SessionRequest): void {
    const { correlationId, request } = message;
    this.#inFlight += 1;
    if (this.#inFlight >= this.#limits.inFlightMax) this.#call.pause();
    if (request === undefined) {
      this.#answer(
        correlationId,
        this.#failure(new AgentTxError("INVALID_ARGUMENT", "An empty request."), "session"),
      );
      return;
    }
    const transaction = request.$case === "begin" ? "" : request.value.transactionId;
    const tail = this.#tails.get(transaction);
    if (tail === undefined || transaction === "" || isAbort(request)) {
      this.#track(transaction, this.#run(correlationId, request));
    } else {
      this.#track(
        transaction,
        tail.then(() => this.#run(correlationId, request)),
      );
    }
  }

  #track(transaction: string, work: Promise<void>): void {
    if (transaction === "") return;
    this.#tails.set(transaction, work);
    void work.then(() => {
      if (this.#tails.get(transaction) === work) this.#tails.delete(transaction);
    });
  }

  async #run(correlationId: number, request: Request): Promise<void> {
    let response: Response;
    try {
      response = await this.#dispatch(request);
    } catch (error) {
      response = this.#failure(error, request.$case);
    }
    this.#answer(correlationId, response);
  }

  async #dispatch(request: Request): Promise<Response> {
    const context = this.#context;
    const service = this.#service;
    switch (request.$case) {
      case "step":
        return { $case: "step", value: await service.call("executeStep", context, request.value) };
      case "begin":
        return {
          $case: "begin",
          value: await service.call("beginTransaction", context, request.value),
        };
      case "commit":
        return {
          $case: "commit",
          value: await service.call("commitTransaction", context, request.value),
        };
      case "rollback":
        return {
          $case: "rollback",
          value: await service.call("rollbackTransaction", context, request.value),
        };
      case "get":
        return {
          $case: "get",
          value: await service.call("getTransaction", context, request.value),
        };
      case "reportFailure":
        return {
          $case: "reportFailure",
          value: await service.call("reportFailure", context, request.value),
        };
      case "prepare":
        return {
          $case: "prepare",
          value: await service.call("prepareStep", context, request.value),
        };
      case "complete":
        return {
          $case: "complete",
          value: await service.call("completeStep", context, request.value),
        };
    }
  }

  #failure(error: unknown, method: string): Response {
    const { status, reason, message, details, retryable } = this.#service.wireError(error, method);
    return {
      $case: "error",
      value: { status, reason, message, details: { ...details }, retryable },
    };
  }

  #answer(correlationId: number, response: Response): void {
    this.#inFlight -= 1;
    this.#send(correlationId, response);
    this.#resume();
  }

  #send(correlationId: number, response: Response): void {
    if (this.#ended) return;
    if (!this.#call.write({ correlationId, response })) {
      this.#full = true;
      this.#call.pause();
    }
  }

  #resume(): void {
    if (this.#ended || this.#full || this.#inFlight >= this.#limits.inFlightMax) return;
    if (this.#call.isPaused()) this.#call.resume();
  }

  /** The client sends no more: answer what runs, then end. */
  #readerDone(): void {
    void Promise.allSettled([...this.#tails.values()]).then(() => {
      if (!this.#ended) this.#call.end();
    });
  }
}

function isAbort(request: Request): boolean {
  return request.$case === "rollback" && (request.value.toStep ?? 0) === 0;
}
