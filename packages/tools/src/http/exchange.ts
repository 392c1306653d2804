// Owns one request and its answer on the wire: one connection, no redirects, bounded in bytes and
// time. A connection is not reused: a stale one would leave the outcome of a call in doubt.

import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { connectionError } from "./errors.js";
import { type HostAddress, pinned, plainHost } from "./resolve.js";

export interface WireRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  readonly addresses: readonly HostAddress[];
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

export interface WireAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  /** The answer was longer than `bytesMax`; the rest was not read. */
  readonly truncated: boolean;
}

/** Throws DefiniteFailure when nothing was sent, the signal's reason when it aborted. */
export function exchange(wire: WireRequest): Promise<WireAnswer> {
  const { promise, resolve, reject } = withResolvers<WireAnswer>();
  const { url, signal } = wire;
  if (signal.aborted) return Promise.reject(signal.reason);
  const send = url.protocol === "https:" ? tlsRequest : plainRequest;
  let sent = false;
  const outgoing = send({
    method: wire.method,
    host: plainHost(url.hostname),
    port: url.port === "" ? undefined : Number(url.port),
    path: url.pathname + url.search,
    headers: {
      ...wire.headers,
      host: url.host,
      connection: "close",
      "accept-encoding": "identity",
      ...(wire.body === null ? {} : { "content-length": String(wire.body.byteLength) }),
    },
    agent: false,
    lookup: pinned(wire.addresses),
  });
  const onAbort = (): void => {
    reject(signal.reason);
    outgoing.destroy();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  outgoing.on("socket", (socket) => {
    // From the handshake on, bytes may have left: what fails later is in doubt.
    socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => {
      sent = true;
    });
  });
  outgoing.on("error", (error) => reject(connectionError(error, sent)));
  outgoing.on("response", (incoming) => {
    readAll(incoming, wire.bytesMax).then(resolve, reject);
  });
  outgoing.end(wire.body ?? undefined);
  return promise.finally(() => {
    signal.removeEventListener("abort", onAbort);
    outgoing.destroy();
  });
}

async function readAll(incoming: IncomingMessage, bytesMax: number): Promise<WireAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    // Without an encoding set, chunks are buffers.
    const part = chunk as Buffer;
    chunks.push(part.subarray(0, bytesMax - bytes));
    bytes += part.byteLength;
    if (bytes > bytesMax) break;
  }
  return {
    status: incoming.statusCode ?? 0,
    statusText: incoming.statusMessage ?? "",
    headers: incoming.headers,
    body: Buffer.concat(chunks),
    truncated: bytes > bytesMax,
  };
}

/** Promise.withResolvers, which Node 20 does not have. */
function withResolvers<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<Value>((accept, refuse) => {
    resolve = accept;
    reject = refuse;
  });
  return { promise, resolve, reject };
}
