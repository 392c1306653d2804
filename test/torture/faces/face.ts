// Owns the two ways to the same engine that the suite of faces compares: embedded, and over gRPC.
// Both are RocksDB, the same tools and the same policy; what they answer is made plain.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentTxClient, createClient } from "@agenttx/client";
import { createEngine, defineTool, type Engine, type ToolShape } from "@agenttx/engine";
import { openStore, type Store } from "@agenttx/storage";
import { z } from "zod";
import { startTestServer, type TestServer } from "../../server/test-server.js";

/** Keys that a tool has done and not undone. */
export type Standing = Set<string>;

/** Part of a transaction that both handles have. */
export interface Handle {
  readonly id: string;
  readonly nextStep: number;
  readonly status: string;
  step(tool: string, args: object): Promise<StepAnswer>;
  rollback(toStep: number): Promise<{ readonly rolledBack: boolean; readonly nextStep: number }>;
  reportFailure(step: number, report: { readonly text: string }): Promise<StepAnswer>;
  commit(): Promise<{ readonly stepsCommitted: number }>;
}

export interface StepAnswer {
  readonly status: string;
  readonly step: number;
  readonly nextStep: number;
  readonly output?: unknown;
  readonly strategy?: string;
  readonly hint?: { readonly text: string };
}

export interface Face {
  readonly name: string;
  readonly standing: Standing;
  begin(): Promise<Handle>;
  /** Stops and starts; the transaction goes on. */
  restart(id: string): Promise<Handle>;
  close(): Promise<void>;
}

export const POLICY = { maxGlobalResets: 3 } as const;

export function faceTools(standing: Standing): ToolShape[] {
  return [
    defineTool({
      name: "put",
      schema: z.strictObject({ key: z.string(), value: z.number().nullable() }),
      effect: "reversible",
      scope: "store",
      execute({ key, value }, { state }) {
        if (value === null) state.delete(key);
        else state.put(key, Buffer.from(String(value)));
        return { key, value };
      },
    }),
    defineTool({
      name: "get",
      schema: z.strictObject({ prefix: z.string() }),
      effect: "read-only",
      scope: "store",
      async execute({ prefix }, { state }) {
        const entries = await state.scan({ prefix: Buffer.from(prefix) });
        return entries.map((one) => `${Buffer.from(one.key)}=${Buffer.from(one.value)}`);
      },
    }),
    defineTool({
      name: "book",
      schema: z.strictObject({ fail: z.boolean() }),
      effect: "reversible",
      execute({ fail }, { idempotencyKey }) {
        standing.add(idempotencyKey);
        if (fail) throw new Error("the flight is full");
        return { booked: true };
      },
      compensate: (_call, { idempotencyKey }) => void standing.delete(idempotencyKey),
    }),
  ] as unknown as ToolShape[];
}

export async function embedded(): Promise<Face> {
  const path = await mkdtemp(join(tmpdir(), "agenttx-faces-"));
  const standing: Standing = new Set();
  let store: Store;
  let engine: Engine;
  const open = async () => {
    store = await openStore({ path });
    engine = createEngine({ store, tools: faceTools(standing) }) as unknown as Engine;
    await engine.recover({ resume: true });
  };
  const stop = async () => {
    await engine.close();
    await store.close();
  };
  await open();
  return {
    name: "embedded",
    standing,
    begin: async () => (await engine.begin({ policy: POLICY })) as unknown as Handle,
    async restart(id) {
      await stop();
      await open();
      return (await engine.resume(id)) as unknown as Handle;
    },
    async close() {
      await stop();
      await rm(path, { recursive: true, force: true });
    },
  };
}

export async function overTheWire(transport: "session" | "unary"): Promise<Face> {
  const standing: Standing = new Set();
  let server: TestServer = await startTestServer({}, faceTools(standing));
  let client: AgentTxClient = createClient({ address: server.address, transport });
  return {
    name: transport,
    standing,
    begin: async () => (await client.begin({ policy: POLICY })) as unknown as Handle,
    async restart(id) {
      await client.close();
      server = await server.restart();
      client = createClient({ address: server.address, transport });
      return (await client.resume(id)) as unknown as Handle;
    },
    async close() {
      await client.close();
      await server.remove();
    },
  };
}
