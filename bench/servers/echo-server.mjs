// Owns the bare echo: the same transports as the server's, bytes in, the same bytes out, nothing
// decoded. A server on these transports cannot be faster.
import { createServer } from "node:http";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { ECHO } from "./echo-service.mjs";
import { serveParent } from "./server-process.mjs";

serveParent(async () => {
  const grpc = new Server({ "grpc.max_concurrent_streams": 256 });
  grpc.addService(ECHO, {
    stream: (call) => {
      call.on("data", (bytes) => call.write(bytes));
      call.on("end", () => call.end());
      call.on("error", () => call.destroy());
    },
    unary: (call, callback) => callback(null, call.request),
  });
  const grpcPort = await new Promise((resolve, reject) => {
    grpc.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    );
  });
  const http = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(Buffer.concat(parts));
    });
  });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    http.closeAllConnections();
    http.close();
    grpc.forceShutdown();
  };
  return { grpcPort, httpPort: http.address().port, close };
});
