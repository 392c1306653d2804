// Owns the unary gRPC face: one handler for every unary call of the service.

import { errorMetadata, type WireError } from "@agenttx/wire";
import type { handleUnaryCall, ServerUnaryCall, ServiceError, sendUnaryData } from "@grpc/grpc-js";
import type { Authenticator } from "../auth/authenticator.js";
import type { RequestOf, ResponseOf, Service, UnaryName } from "../service/service.js";
import { credentialsOf } from "./credentials.js";

/** A caller's own deadline is kept by grpc-js; one that gives none gets the server's. */
export function unaryHandler<Name extends UnaryName>(
  service: Service,
  authenticator: Authenticator,
  name: Name,
): handleUnaryCall<RequestOf<Name>, ResponseOf<Name>> {
  const { deadlines, deadlineDefaultMs } = service.deps;
  return (
    call: ServerUnaryCall<RequestOf<Name>, ResponseOf<Name>>,
    answer: sendUnaryData<ResponseOf<Name>>,
  ) => {
    const run = async (): Promise<ResponseOf<Name>> => {
      const principal = authenticator.authenticate(credentialsOf(call));
      return service.call(name, { principal, face: "grpc" }, call.request);
    };
    const ms = call.getDeadline() === Number.POSITIVE_INFINITY ? deadlineDefaultMs : 0;
    deadlines.within(ms, run()).then(
      (response) => answer(null, response),
      (error) => answer(serviceError(service.wireError(error, name))),
    );
  };
}

/** An error as grpc-js sends it: status, text, and ErrorInfo in the trailers. */
export function serviceError(error: WireError): ServiceError {
  return Object.assign(new Error(error.message), {
    code: error.status,
    details: error.message,
    metadata: errorMetadata(error),
  });
}
