// Owns unary calls: one HTTP/2 stream each. The fallback for proxies that cut long streams, and the
// way of the calls that operators make.

import { agentTxService } from "@agenttx/wire";
import type { Client, MethodDefinition, ServiceError } from "@grpc/grpc-js";
import {
  abortedError,
  callError,
  closedError,
  deadlineError,
  mayRepeat,
  tooLargeError,
} from "./call-error.js";
import { MESSAGE_BYTES_MAX, type ResolvedOptions } from "./options.js";
import { reconnectDelay } from "./reconnect-delay.js";
import type { CallKind, CallOptions, RequestOf, ResponseOf, Transport } from "./transport.js";
import { isUnsent } from "./unreachable.js";

type Methods = { [Kind in CallKind]: MethodDefinition<RequestOf<Kind>, ResponseOf<Kind>> };

const METHODS: Methods = {
  begin: agentTxService.beginTransaction,
  step: agentTxService.executeStep,
  commit: agentTxService.commitTransaction,
  rollback: agentTxService.rollbackTransaction,
  get: agentTxService.getTransaction,
  reportFailure: agentTxService.reportFailure,
  prepare: agentTxService.prepareStep,
  registerUndo: agentTxService.registerUndo,
  complete: agentTxService.completeStep,
};

const sendBytes = (bytes: Buffer): Buffer => bytes;

/** Calls of any method, repeated while the server is away and the deadline allows. */
export class UnaryCaller {
  readonly #client: Client;
  readonly #options: ResolvedOptions;
  readonly #closing = new AbortController();

  constructor(client: Client, options: ResolvedOptions) {
    this.#client = client;
    this.#options = options;
  }

  async call<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    { signal }: CallOptions = {},
  ): Promise<Response> {
    const { address, deadlineMs } = this.#options;
    // Monotonic: a clock that jumps neither ends a call nor makes it endless.
    const expiresAt = performance.now() + deadlineMs;
    const bytes = method.requestSerialize(request);
    if (bytes.length > MESSAGE_BYTES_MAX) throw tooLargeError(bytes.length, MESSAGE_BYTES_MAX);
    for (let failures = 0; ; failures += 1) {
      if (this.#closing.signal.aborted) throw closedError();
      if (isAborted(signal)) throw abortedError();
      const { error, response } = await this.#once(method, bytes, expiresAt, signal);
      if (response !== null) return response;
      if (isAborted(signal)) throw abortedError();
      if (this.#closing.signal.aborted) throw closedError();
      if (error !== null && !this.#options.waitForServer && isUnsent(error.details)) {
        throw callError(error, address);
      }
      const delay = reconnectDelay(failures, Math.random());
      if (error === null || !mayRepeat(error) || performance.now() + delay >= expiresAt) {
        throw error === null ? deadlineError(address, deadlineMs) : callError(error, address);
      }
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }

  close(): void {
    this.#closing.abort();
  }

  #once<Request, Response>(
    method: MethodDefinition<Request, Response>,
    bytes: Buffer,
    expiresAt: number,
    signal: AbortSignal | undefined,
  ): Promise<{ error: ServiceError | null; response: Response | null }> {
    return new Promise((resolve) => {
      const call = this.#client.makeUnaryRequest(
        method.path,
        sendBytes,
        method.responseDeserialize,
        bytes,
        this.#options.metadata(),
        { deadline: Date.now() + Math.max(1, expiresAt - performance.now()) },
        (error, response) => {
          for (const one of signals) one.removeEventListener("abort", cancel);
          resolve({ error, response: response ?? null });
        },
      );
      const cancel = () => call.cancel();
      const signals = [this.#closing.signal, ...(signal === undefined ? [] : [signal])];
      for (const one of signals) one.addEventListener("abort", cancel, { once: true });
    });
  }
}

export class UnaryTransport implements Transport {
  readonly #caller: UnaryCaller;

  constructor(caller: UnaryCaller) {
    this.#caller = caller;
  }

  call<Kind extends CallKind>(
    kind: Kind,
    request: RequestOf<Kind>,
    options: CallOptions = {},
  ): Promise<ResponseOf<Kind>> {
    return this.#caller.call(METHODS[kind], request, options);
  }

  /** The caller is the client's and is closed by it. */
  close(): void {}
}

/** A function, because a signal changes between two looks at it and a compiler thinks it does not. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
