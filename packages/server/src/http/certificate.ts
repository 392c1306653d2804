// Owns what an HTTP request shows of the client's certificate.

import { TLSSocket } from "node:tls";
import type { HttpBindings as NodeBindings } from "@hono/node-server";

export type HttpBindings = NodeBindings;

/** Common name of a certificate that TLS has verified, or null. */
export function certificateNameOf(bindings: HttpBindings | undefined): string | null {
  const socket = bindings?.incoming?.socket;
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null;
  const name = socket.getPeerCertificate().subject?.CN;
  return typeof name === "string" && name !== "" ? name : null;
}
