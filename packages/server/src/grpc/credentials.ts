// Owns what a gRPC call shows of its caller.

import type { Metadata } from "@grpc/grpc-js";
import type { Credentials } from "../auth/authenticator.js";

export interface CallWithAuth {
  readonly metadata: Metadata;
  getAuthContext(): { sslPeerCertificate?: { subject?: { CN?: string | string[] } } };
}

export function credentialsOf(call: CallWithAuth): Credentials {
  const [authorization] = call.metadata.get("authorization");
  const name = call.getAuthContext().sslPeerCertificate?.subject?.CN;
  return {
    authorization: typeof authorization === "string" ? authorization : undefined,
    certificateName: typeof name === "string" && name !== "" ? name : null,
  };
}
