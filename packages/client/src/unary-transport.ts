// Owns the unary fallback: one HTTP/2 stream a call, for proxies that cut long streams.

import { agentTxService } from "@agenttx/wire";
import type { Client, MethodDefinition, ServiceError } from "@grpc/grpc-js";
import { abortedError, callError, closedError, deadlineError, mayRepeat } from "./call-error.js";
import type { ResolvedOptions } from "./options.js";
import { reconnectDelay } from "./reconnect-delay.js";
import type { CallKind, CallOptions, RequestOf, ResponseOf, Transport } from "./transport.js";

type Methods = { [Kind in CallKind]: MethodDefinition<RequestOf<Kind>, ResponseOf<Kind>> };

const METHODS: Methods = {
  begin: agentTxService.beginTransaction,
  step: agentTxService.executeStep,
  commit: agentTxService.commitTransaction,
  rollback: agentTxService.rollbackTransaction,
  get: agentTxService.getTransaction,
  reportFailure: agentTxService.reportFailure,
  prepare: agentTxService.prepareStep,
  complete: agentTxService.completeStep,
};

export class UnaryTransport implements Transport {
  readonly #client: Client;
  readonly #options: ResolvedOptions;
  readonly #closing = new AbortController();

  constructor(client: Client, options: ResolvedOptions) {
    this.#client = client;
    this.#options = options;
  }

  async call<Kind extends CallKind>(
    kind: Kind,
    request: RequestOf<Kind>,
    options: CallOptions = {},
  ): Promise<ResponseOf<Kind>> {
    const expiresAt = Date.now() + this.#options.deadlineMs;
    for (let failures = 0; ; failures += 1) {
      if (this.#closing.signal.aborted) throw closedError();
      if (isAborted(options.signal)) throw abortedError();
      const { error, response } = await this.#once(METHODS[kind], request, expiresAt, options);
      if (response !== null) return response;
      if (isAborted(options.signal)) throw abortedError();
      if (this.#closing.signal.aborted) throw closedError();
      const delay = reconnectDelay(failures, Math.random());
      if (error === null || !mayRepeat(error) || Date.now() + delay >= expiresAt) {
        if (error !== null) throw callError(error, this.#options.address);
        throw deadlineError(this.#options.address, this.#options.deadlineMs);
      }
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }

  close(): void {
    this.#closing.abort();
  }

  #once<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    deadline: number,
    options: CallOptions,
  ): Promise<{ error: ServiceError | null; response: Response | null }> {
    return new Promise((resolve) => {
      const call = this.#client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        this.#options.metadata(),
        { deadline },
        (error, response) => {
          for (const signal of signals) signal.removeEventListener("abort", cancel);
          resolve({ error, response: response ?? null });
        },
      );
      const cancel = () => call.cancel();
      const signals = [this.#closing.signal, ...(options.signal ? [options.signal] : [])];
      for (const signal of signals) signal.addEventListener("abort", cancel, { once: true });
    });
  }
}

/** A function, because a signal changes between two looks at it and a compiler thinks it does not. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
