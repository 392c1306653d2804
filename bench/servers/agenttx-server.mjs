// Owns the server under test: the product's own, with built-in tools, on loopback.
import { settingsSchema, startServer } from "@agenttx/server";
import { serveParent } from "./server-process.mjs";

serveParent(async ({ dataDir }) => {
  const settings = settingsSchema.parse({
    dataDir,
    listen: "127.0.0.1:0",
    httpListen: "127.0.0.1:0",
    logLevel: "error",
    idleTimeoutMs: 0,
  });
  const server = await startServer({ settings });
  return { grpcPort: server.grpcPort, httpPort: server.httpPort, close: () => server.close() };
});
