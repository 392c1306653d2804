// Owns the reading of certificates and keys, for both faces alike.

import { readFileSync } from "node:fs";
import { AgentTxError } from "@agenttx/model";
import type { Settings } from "./settings.js";

export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** Authority that client certificates must come from; null = none is asked for. */
  readonly clientCa: Buffer | null;
}

/** null without TLS. Throws INVALID_ARGUMENT that names the flag of a file that cannot be read. */
export function readTlsFiles({ tlsCert, tlsKey, tlsClientCa }: Settings): TlsFiles | null {
  if (tlsCert === undefined || tlsKey === undefined) return null;
  return {
    cert: readPem("--tls-cert", tlsCert),
    key: readPem("--tls-key", tlsKey),
    clientCa: tlsClientCa === undefined ? null : readPem("--tls-client-ca", tlsClientCa),
  };
}

function readPem(flag: string, path: string): Buffer {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    throw new AgentTxError("INVALID_ARGUMENT", `${flag} ${path} cannot be read.`, { cause });
  }
  if (bytes.includes("-----BEGIN ")) return bytes;
  throw new AgentTxError("INVALID_ARGUMENT", `${flag} ${path} is no PEM file.`);
}
