// Owns reading a server stream to its end: for answers that have no limit in size.

import type { Client, MethodDefinition, ServiceError } from "@grpc/grpc-js";
import { abortedError, callError } from "./call-error.js";
import type { ResolvedOptions } from "./options.js";

/** Every message of a stream, in order. Throws AgentTxError; ABORTED_BY_SIGNAL at once. */
export type ReadStream = <Request, Response>(
  method: MethodDefinition<Request, Response>,
  request: Request,
  options?: { readonly signal?: AbortSignal | undefined },
) => Promise<readonly Response[]>;

export function streamReader(client: Client, options: ResolvedOptions): ReadStream {
  return (method, request, { signal } = {}) => {
    if (signal?.aborted === true) return Promise.reject(abortedError());
    const stream = client.makeServerStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      options.metadata(),
      { deadline: Date.now() + options.deadlineMs },
    );
    type Response = ReturnType<typeof method.responseDeserialize>;
    return new Promise<readonly Response[]>((resolve, reject) => {
      const messages: Response[] = [];
      const cancel = () => stream.cancel();
      const settle = (end: () => void) => {
        signal?.removeEventListener("abort", cancel);
        end();
      };
      signal?.addEventListener("abort", cancel, { once: true });
      stream.on("data", (message: Response) => messages.push(message));
      stream.on("error", (error: ServiceError) =>
        settle(() =>
          reject(signal?.aborted === true ? abortedError() : callError(error, options.address)),
        ),
      );
      stream.on("end", () => settle(() => resolve(messages)));
    });
  };
}
