// Owns calls of the bare echo: over a stream, unary, and HTTP.
import { Client, credentials } from "@grpc/grpc-js";
import { ECHO } from "../servers/echo-service.mjs";

const { path, requestSerialize, responseDeserialize } = ECHO.stream;

export function openEcho(port) {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  return {
    /** A stream of its own: `call(bytes)` resolves with the echo; one call at a time. */
    stream() {
      const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
      let answered = null;
      stream.on("data", (bytes) => answered(bytes));
      stream.on("error", (error) => {
        if (!/cancel/i.test(error.message)) throw error;
      });
      return {
        call: (bytes) =>
          new Promise((resolve) => {
            answered = resolve;
            stream.write(bytes);
          }),
        close: () => stream.end(),
      };
    },
    unary: (bytes) =>
      new Promise((resolve, reject) => {
        const done = (error, answer) => (error === null ? resolve(answer) : reject(error));
        client.makeUnaryRequest(
          ECHO.unary.path,
          requestSerialize,
          responseDeserialize,
          bytes,
          done,
        );
      }),
    close: () => client.close(),
  };
}
