// Owns what a transport is: one typed call in, one answer or one AgentTxError out.

import type { session } from "@agenttx/wire";

type Requests = NonNullable<session.SessionRequest["request"]>;
type Responses = NonNullable<session.SessionResponse["response"]>;

/** Calls that both transports carry, named as in the session stream. */
export type CallKind = Requests["$case"];
export type RequestOf<Kind extends CallKind> = Extract<Requests, { $case: Kind }>["value"];
export type ResponseOf<Kind extends CallKind> = Extract<Responses, { $case: Kind }>["value"];

export interface CallOptions {
  /** Gives up waiting; the server may still finish the call. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Exactly-once effect: a request that changes something carries a request id, and a transport may
 * send it again after a broken connection.
 */
export interface Transport {
  call<Kind extends CallKind>(
    kind: Kind,
    request: RequestOf<Kind>,
    options?: CallOptions,
  ): Promise<ResponseOf<Kind>>;
  /** Rejects what is in flight with CLOSED. Idempotent. */
  close(): void;
}
