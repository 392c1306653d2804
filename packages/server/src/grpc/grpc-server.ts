// Owns the gRPC server: service, health, reflection, limits, TLS.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { agentTxService } from "@agenttx/wire";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { HealthImplementation } from "grpc-health-check";
import type { Authenticator } from "../auth/authenticator.js";
import { isLoopback } from "../config.js";
import { type Service, UNARY_NAMES } from "../service/service.js";
import type { Settings } from "../settings.js";
import { readTlsFiles } from "../tls-files.js";
import { sessionHandler } from "./session-face.js";
import { StreamFace } from "./streams.js";
import { unaryHandler } from "./unary.js";

const SERVICE_NAME = "agenttx.v1.AgentTxService";

export class GrpcServer {
  readonly #server: Server;
  readonly #health: HealthImplementation;
  readonly #settings: Settings;

  constructor(service: Service, authenticator: Authenticator, settings: Settings) {
    this.#settings = settings;
    this.#health = new HealthImplementation({ "": "NOT_SERVING", [SERVICE_NAME]: "NOT_SERVING" });
    this.#server = new Server({
      "grpc.max_receive_message_length": settings.messageBytesMax,
      // Bounded by what is sent: pages are cut by bytes, an output has its own limit.
      "grpc.max_send_message_length": -1,
      "grpc.max_concurrent_streams": 256,
      "grpc.keepalive_time_ms": 30_000,
      "grpc.keepalive_timeout_ms": 10_000,
      "grpc.max_connection_idle_ms": 10 * 60_000,
      // Its counters cost with every message, and nothing here shows them.
      "grpc.enable_channelz": 0,
    });
    const streams = new StreamFace(service, authenticator);
    const handlers = Object.fromEntries(
      UNARY_NAMES.map((name) => [name, unaryHandler(service, authenticator, name)]),
    );
    this.#server.addService(agentTxService, {
      ...handlers,
      session: sessionHandler(service, authenticator, settings.inFlightMax),
      watchTransactions: streams.watch,
      getAudit: streams.audit,
      getWorkflowAudit: streams.workflowAudit,
      pullWork: streams.pull,
    });
    this.#health.addToServer(this.#server);
    if (settings.reflection ?? isLoopback(settings.listen)) addReflection(this.#server);
  }

  /** Resolves with the bound port; throws when the address is taken. */
  listen(): Promise<number> {
    const credentials = credentialsOf(this.#settings);
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(this.#settings.listen, credentials, (error, port) => {
        if (error === null) resolve(port);
        else reject(error);
      });
    });
  }

  setServing(serving: boolean): void {
    const status = serving ? "SERVING" : "NOT_SERVING";
    this.#health.setStatus("", status);
    this.#health.setStatus(SERVICE_NAME, status);
  }

  /** Takes no new connections; what is left when `quiet` resolves (health watchers) is cut. */
  async close(quiet: Promise<void>): Promise<void> {
    this.setServing(false);
    const left = new Promise<void>((resolve) => {
      this.#server.tryShutdown(() => resolve());
    });
    await Promise.race([left, quiet]);
    this.#server.forceShutdown();
  }
}

function addReflection(server: Server): void {
  const file = createRequire(import.meta.url).resolve("@agenttx/wire/descriptor.binpb");
  const definition = loadFileDescriptorSetFromBuffer(readFileSync(file));
  new ReflectionService(definition).addToServer(server);
}

function credentialsOf(settings: Settings): ServerCredentials {
  const files = readTlsFiles(settings);
  if (files === null) return ServerCredentials.createInsecure();
  const pair = { cert_chain: files.cert, private_key: files.key };
  return ServerCredentials.createSsl(files.clientCa, [pair], files.clientCa !== null);
}
