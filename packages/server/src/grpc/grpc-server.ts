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
import type { Service, UnaryName } from "../service/service.js";
import type { Settings } from "../settings.js";
import { SessionFace } from "./session.js";
import { StreamFace } from "./streams.js";
import { unaryHandler } from "./unary.js";

const SERVICE_NAME = "agenttx.v1.AgentTxService";

const UNARY: readonly UnaryName[] = [
  "beginTransaction",
  "executeStep",
  "commitTransaction",
  "rollbackTransaction",
  "getTransaction",
  "reportFailure",
  "listTransactions",
  "prepareStep",
  "completeStep",
  "completeWork",
  "listEffects",
  "listReconciliation",
  "resolveEffect",
];

export class GrpcServer {
  readonly #server: Server;
  readonly #health: HealthImplementation;
  readonly #settings: Settings;
  readonly sessions: SessionFace;

  constructor(service: Service, authenticator: Authenticator, settings: Settings) {
    this.#settings = settings;
    this.sessions = new SessionFace(service, authenticator, settings);
    this.#health = new HealthImplementation({ "": "NOT_SERVING", [SERVICE_NAME]: "NOT_SERVING" });
    this.#server = new Server({
      "grpc.max_receive_message_length": settings.messageBytesMax,
      "grpc.max_send_message_length": settings.messageBytesMax,
      "grpc.max_concurrent_streams": 256,
      "grpc.max_metadata_size": 16 * 1024,
      "grpc.keepalive_time_ms": 30_000,
      "grpc.keepalive_timeout_ms": 10_000,
    });
    const streams = new StreamFace(service, authenticator);
    const handlers = Object.fromEntries(
      UNARY.map((name) => [name, unaryHandler(service, authenticator, name)]),
    );
    this.#server.addService(agentTxService, {
      ...handlers,
      session: this.sessions.handle,
      watchTransactions: streams.watch,
      getAudit: streams.audit,
      pullWork: streams.pull,
    });
    this.#health.addToServer(this.#server);
    if (settings.reflection ?? isLoopback(settings.listen)) addReflection(this.#server);
  }

  /** Resolves with the bound port; throws when the address is taken. */
  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(
        this.#settings.listen,
        credentialsOf(this.#settings),
        (error, port) => {
          if (error === null) resolve(port);
          else reject(error);
        },
      );
    });
  }

  setServing(serving: boolean): void {
    const status = serving ? "SERVING" : "NOT_SERVING";
    this.#health.setStatus("", status);
    this.#health.setStatus(SERVICE_NAME, status);
  }

  /** Tells sessions to leave, waits for calls in flight at most `graceMs`, then cuts. */
  async close(graceMs: number): Promise<void> {
    this.setServing(false);
    for (const session of this.sessions.open) session.goaway(200);
    await new Promise<void>((resolve) => {
      const cut = setTimeout(() => {
        this.#server.forceShutdown();
        resolve();
      }, graceMs);
      this.#server.tryShutdown(() => {
        clearTimeout(cut);
        resolve();
      });
      // A session that read its goaway has ended by itself; the rest is ended here.
      setTimeout(
        () => {
          for (const session of this.sessions.open) session.end();
        },
        Math.min(500, graceMs),
      ).unref();
    });
  }
}

function addReflection(server: Server): void {
  const file = createRequire(import.meta.url).resolve("@agenttx/wire/descriptor.binpb");
  const definition = loadFileDescriptorSetFromBuffer(readFileSync(file));
  new ReflectionService(definition).addToServer(server);
}

function credentialsOf(settings: Settings): ServerCredentials {
  const { tlsCert, tlsKey, tlsClientCa } = settings;
  if (tlsCert === undefined || tlsKey === undefined) return ServerCredentials.createInsecure();
  const pair = { cert_chain: readFileSync(tlsCert), private_key: readFileSync(tlsKey) };
  const authority = tlsClientCa === undefined ? null : readFileSync(tlsClientCa);
  return ServerCredentials.createSsl(authority, [pair], authority !== null);
}
