// Owns the settings of a client and what they mean for a gRPC channel.

import { readFileSync } from "node:fs";
import { AgentTxError } from "@agenttx/model";
import { type ChannelCredentials, type ChannelOptions, credentials, Metadata } from "@grpc/grpc-js";

export interface TlsOptions {
  /** PEM file of the authority that signed the server; the system's authorities when omitted. */
  readonly caFile?: string;
  /** PEM files of the client's own certificate, for mutual TLS. Both or none. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Name the certificate must have, when it is not the address. */
  readonly serverName?: string;
}

export interface ClientOptions {
  /** `host:port`, or `unix:/path`. */
  readonly address: string;
  /** Bearer token; never logged. */
  readonly token?: string;
  /** Plain text when omitted: for loopback only. */
  readonly tls?: TlsOptions;
  /** `session` (default): one stream for all calls. `unary`: one HTTP/2 stream a call. */
  readonly transport?: "session" | "unary";
  /** Milliseconds for one call, reconnects included. Default 60,000. */
  readonly deadlineMs?: number;
  /** Requests without an answer; further ones wait in the client. Default 1,024. */
  readonly inFlightMax?: number;
  /**
   * False: a unary call to a server that cannot be connected to fails at once. Default true: it is tried
   * again until the deadline, so that a server may restart meanwhile.
   */
  readonly waitForServer?: boolean;
}

/** Longest message that is sent, in bytes: what servers accept (docs/limits.md). */
export const MESSAGE_BYTES_MAX = 4 * 1024 * 1024;
/** Longest answer that is read: an output of 4 MiB with what stands around it. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

export interface ResolvedOptions {
  readonly address: string;
  readonly credentials: ChannelCredentials;
  readonly channel: ChannelOptions;
  readonly transport: "session" | "unary";
  readonly deadlineMs: number;
  readonly inFlightMax: number;
  readonly waitForServer: boolean;
  /**
   * Fresh metadata with the token. `wait`: the call waits for a connection instead of failing while
   * there is none; its deadline must be the caller's own.
   */
  metadata(wait?: "wait"): Metadata;
}

/** Throws INVALID_ARGUMENT; nothing is connected. */
export function resolveOptions(options: ClientOptions): ResolvedOptions {
  if (typeof options.address !== "string" || options.address === "") {
    throw new AgentTxError("INVALID_ARGUMENT", "`address` is empty; give host:port.");
  }
  const { token, tls } = options;
  const serverName = tls?.serverName;
  return {
    address: options.address,
    credentials: tls === undefined ? credentials.createInsecure() : tlsCredentials(tls),
    channel: {
      "grpc.max_receive_message_length": ANSWER_BYTES_MAX,
      "grpc.max_send_message_length": MESSAGE_BYTES_MAX,
      "grpc.keepalive_time_ms": 20_000,
      "grpc.keepalive_timeout_ms": 10_000,
      // Its counters cost with every message, and nothing here shows them.
      "grpc.enable_channelz": 0,
      "grpc.initial_reconnect_backoff_ms": 100,
      // A server that restarts is found within a second of its return.
      "grpc.max_reconnect_backoff_ms": 1_000,
      ...(serverName === undefined ? {} : { "grpc.ssl_target_name_override": serverName }),
    },
    transport: options.transport ?? "session",
    deadlineMs: positive("deadlineMs", options.deadlineMs ?? 60_000),
    inFlightMax: positive("inFlightMax", options.inFlightMax ?? 1_024),
    waitForServer: options.waitForServer ?? true,
    metadata(wait) {
      const metadata = new Metadata({ waitForReady: wait === "wait" });
      if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
      return metadata;
    },
  };
}

function tlsCredentials(tls: TlsOptions): ChannelCredentials {
  const { caFile, certFile, keyFile } = tls;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new AgentTxError("INVALID_ARGUMENT", "`certFile` and `keyFile` go together.");
  }
  const read = (file: string | undefined) => (file === undefined ? null : readPem(file));
  return credentials.createSsl(read(caFile), read(keyFile), read(certFile));
}

function readPem(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new AgentTxError("INVALID_ARGUMENT", `The PEM file ${file} cannot be read.`, { cause });
  }
}

function positive(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new AgentTxError("INVALID_ARGUMENT", `\`${name}\` must be a whole number above 0.`);
  }
  return value;
}
