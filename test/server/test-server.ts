// Owns servers for tests: in this process, on free ports of 127.0.0.1, in a directory of their own.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTool, type ToolShape } from "@agenttx/engine";
import { type RunningServer, type Settings, settingsSchema, startServer } from "@agenttx/server";
import { z } from "zod";

export interface TestServer {
  readonly root: string;
  readonly settings: Settings;
  readonly server: RunningServer;
  readonly address: string;
  readonly httpUrl: string;
  /** Stops it gracefully and starts another on the same data. */
  restart(): Promise<TestServer>;
  /** Stops it and removes its directory. */
  remove(): Promise<void>;
}

/** The directory that a server will have, for files that must be there before it starts. */
export function testRoot(): string {
  return mkdtempSync(join(tmpdir(), "agenttx-server-"));
}

export async function startTestServer(
  overrides: Record<string, unknown> = {},
  tools: readonly ToolShape[] = agentTools(),
  root: string = testRoot(),
): Promise<TestServer> {
  const settings = settingsSchema.parse({
    dataDir: join(root, "data"),
    listen: "127.0.0.1:0",
    httpListen: "127.0.0.1:0",
    logLevel: "silent",
    drainTimeoutMs: 3_000,
    ...overrides,
  });
  const server = await startServer({ settings, tools });
  const scheme = settings.tlsCert === undefined ? "http" : "https";
  return {
    root,
    settings,
    server,
    address: `127.0.0.1:${server.grpcPort}`,
    httpUrl: `${scheme}://127.0.0.1:${server.httpPort}`,
    restart: async () => {
      await server.close();
      return startTestServer(overrides, tools, root);
    },
    remove: async () => {
      await server.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A search whose first answer is wrong, a check that notices, and a tool that takes its time. */
export function agentTools(): ToolShape[] {
  return [
    defineTool({
      name: "customers.search",
      schema: z.object({ by: z.enum(["name", "email"]) }),
      effect: "read-only",
      execute: ({ by }) => ({ customer_id: by === "name" ? 1007 : 1042 }),
    }),
    defineTool({
      name: "orders.check",
      schema: z.object({ customer_id: z.number() }),
      effect: "read-only",
      retry: 0,
      execute: ({ customer_id }) => {
        if (customer_id === 1042) return { ok: true };
        throw new Error(
          `insert or update on table "orders" violates foreign key constraint "orders_customer_id_fkey" DETAIL: Key (customer_id)=(${customer_id}) is not present in table "customers".`,
        );
      },
    }),
  ] as unknown as ToolShape[];
}

/** A tool that holds until it is let go, and counts how often it was started. */
export function heldTool(name = "held") {
  const state = { started: 0, letGo: () => {}, onStart: () => {} };
  const tool = defineTool({
    name,
    schema: z.object({}),
    effect: "read-only",
    retry: 0,
    execute: async (_args, { signal }) => {
      state.started += 1;
      await new Promise<void>((resolve, reject) => {
        state.letGo = resolve;
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        state.onStart();
      });
      return { started: state.started };
    },
  });
  const begun = () =>
    new Promise<void>((resolve) => {
      state.onStart = resolve;
    });
  return { tool: tool as unknown as ToolShape, state, begun };
}

export async function postJson(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
