// Owns how a session stream is admitted.

import type { Authenticator } from "../auth/authenticator.js";
import type { Service } from "../service/service.js";
import { credentialsOf } from "./credentials.js";
import { Session, type SessionCall } from "./session.js";
import { serviceError } from "./unary.js";

/** The handler that the gRPC server registers. */
export function sessionHandler(
  service: Service,
  authenticator: Authenticator,
  inFlightMax: number,
): (call: SessionCall) => void {
  const { streams, metrics } = service.deps;
  return (call) => {
    try {
      const credentials = credentialsOf(call);
      const principal = authenticator.authenticate(credentials);
      const opened = new Session(call, service, { principal, credentials }, inFlightMax);
      const release = streams.open(opened);
      metrics.sessionsOpen.inc();
      opened.start(() => {
        release();
        metrics.sessionsOpen.dec();
      });
    } catch (error) {
      call.on("error", () => {});
      call.emit("error", serviceError(service.wireError(error, "session")));
    }
  };
}
