// Owns the connection of commands to a running server. The token comes from a file or from
// AGENTTX_TOKEN, never from a flag: command lines are visible to other users.

import { readFileSync } from "node:fs";
import type { AgentTxClient } from "@agenttx/client";
import { AgentTxError } from "@agenttx/model";

export interface ServerOptions {
  /** host:port, or unix:/path. */
  readonly address: string;
  readonly tokenFile?: string;
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

/** A command waits this long for an answer. */
const DEADLINE_MS = 15_000;

/** Loaded when it is needed: most commands never talk to a server. */
export async function connect(server: ServerOptions): Promise<AgentTxClient> {
  const { createClient } = await import("@agenttx/client");
  const { address, tlsCa, tlsCert, tlsKey } = server;
  const token = readToken(server.tokenFile);
  const tls = tlsCa !== undefined || tlsCert !== undefined;
  return createClient({
    address,
    transport: "unary",
    deadlineMs: DEADLINE_MS,
    waitForServer: false,
    ...(token === null ? {} : { token }),
    ...(tls
      ? {
          tls: {
            ...(tlsCa === undefined ? {} : { caFile: tlsCa }),
            ...(tlsCert === undefined ? {} : { certFile: tlsCert }),
            ...(tlsKey === undefined ? {} : { keyFile: tlsKey }),
          },
        }
      : {}),
  });
}

function readToken(file: string | undefined): string | null {
  if (file === undefined) return process.env.AGENTTX_TOKEN || null;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new AgentTxError("NOT_FOUND", `The token file ${file} cannot be read.`, { cause });
  }
}
