// Owns the HTTP face: routes, admission, documents for operators.
//
//   A POST needs `content-type: application/json`, and a loopback server a loopback Host: a page in
//   someone's browser can then neither send a simple request nor reach us by DNS rebinding.

import { AgentTxError } from "@agenttx/model";
import type { JsonValue } from "@bufbuild/protobuf";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { secureHeaders } from "hono/secure-headers";
import type { Authenticator, Credentials } from "../auth/authenticator.js";
import { isLoopback } from "../config.js";
import type { Readiness } from "../readiness.js";
import type { CallContext } from "../service/context.js";
import type { RequestOf, Service, UnaryName } from "../service/service.js";
import type { Settings } from "../settings.js";
import { certificateNameOf, type HttpBindings } from "./certificate.js";
import { methodNamed } from "./descriptors.js";
import { decodeRequest, encodeResponse } from "./json-codec.js";
import { openApiDocument } from "./openapi.js";
import { problemResponse } from "./problem.js";
import { type Route, STREAM_ROUTES, UNARY_ROUTES } from "./routes.js";
import { streamEvents } from "./streams.js";

type Ctx = Context<{ Bindings: HttpBindings }>;

export interface HttpAppOptions {
  readonly service: Service;
  readonly authenticator: Authenticator;
  readonly settings: Settings;
  readonly version: string;
  readonly readiness: () => Readiness;
}

export function createHttpApp(options: HttpAppOptions): Hono<{ Bindings: HttpBindings }> {
  const { service, settings } = options;
  const { deadlines } = service.deps;
  const app = new Hono<{ Bindings: HttpBindings }>();
  const document = openApiDocument(options.version);
  const refuse = (error: unknown, method: string) =>
    problemResponse(service.wireError(error, method));

  app.use(secureHeaders());
  app.use(async (c, next) => {
    if (isLoopback(settings.httpListen) && !isLocalHost(c.req.header("host"))) {
      return refuse(new AgentTxError("PERMISSION_DENIED", "This Host is not served here."), "host");
    }
    return next();
  });
  app.use(
    bodyLimit({
      maxSize: settings.messageBytesMax,
      onError: () => {
        // The rest of the body is not read, so the connection cannot be used again: say so.
        const most = `A body has at most ${settings.messageBytesMax} bytes.`;
        const refused = refuse(new AgentTxError("PAYLOAD_TOO_LARGE", most), "body");
        refused.headers.set("connection", "close");
        return refused;
      },
    }),
  );
  app.get("/healthz", (c) => c.json({ status: "alive" }));
  app.get("/readyz", (c) => {
    const state = options.readiness();
    return c.json(state, state.ready ? 200 : 503);
  });
  app.get("/metrics", async (c) => {
    authenticate(c, options, "read");
    const { registry } = service.deps.metrics;
    return c.body(await registry.metrics(), 200, { "content-type": registry.contentType });
  });
  app.get("/openapi.json", (c) => c.json(document));

  for (const route of UNARY_ROUTES) {
    app[route.method](honoPath(route.path), async (c) => {
      const context = authenticate(c, options);
      const request = decodeRequest(route.call, await readBody(c, route)) as RequestOf<UnaryName>;
      const response = await deadlines.within(
        deadlineOf(c, service.deps.deadlineDefaultMs),
        service.call(route.call, context, request),
      );
      return c.json(encodeResponse(route.call, response) as Record<string, JsonValue>);
    });
  }
  for (const route of STREAM_ROUTES) {
    app[route.method](honoPath(route.path), async (c) => {
      const context = authenticate(c, options);
      const request = decodeRequest(route.call, await readBody(c, route));
      const credentials = credentialsOf(c);
      return streamEvents(c, service, { context, credentials }, route.call, request);
    });
  }
  app.notFound(() => refuse(new AgentTxError("NOT_FOUND", "There is no such path."), "path"));
  app.onError((error) => refuse(error, "http"));
  return app;
}

function authenticate(c: Ctx, options: HttpAppOptions, scope: "read" | null = null): CallContext {
  const principal = options.authenticator.authenticate(credentialsOf(c));
  if (scope !== null && !principal.scopes.has(scope)) {
    throw new AgentTxError("PERMISSION_DENIED", `This token lacks the scope \`${scope}\`.`);
  }
  return { principal, face: "http" };
}

function credentialsOf(c: Ctx): Credentials {
  return {
    authorization: c.req.header("authorization"),
    certificateName: certificateNameOf(c.env),
  };
}

/** Milliseconds from the header `agenttx-deadline-ms`; `otherwise` without one. */
function deadlineOf(c: Ctx, otherwise: number): number {
  const text = c.req.header("agenttx-deadline-ms");
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw invalid("agenttx-deadline-ms is no whole number");
  return Number(text);
}

/** Body or query, with the members that the path gives. */
async function readBody(c: Ctx, route: Route): Promise<JsonValue> {
  const members = route.method === "post" ? await jsonBody(c) : queryMembers(c, route);
  for (const [, name] of route.path.matchAll(/\{(\w+)\}/g)) {
    if (name === undefined) continue;
    if (Object.hasOwn(members, name)) throw invalid(`\`${name}\` is given by the path`);
    members[name] = c.req.param(name) ?? "";
  }
  return members;
}

async function jsonBody(c: Ctx): Promise<Record<string, JsonValue>> {
  const type = c.req.header("content-type") ?? "";
  if (!/^application\/json\b/i.test(type))
    throw invalid("the content type is not application/json");
  const text = await c.req.text();
  if (text === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid("the body is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid("the body is not a JSON object");
  }
  return Object.assign(Object.create(null), value) as Record<string, JsonValue>;
}

/** Query members have the type of their field: lists may repeat. */
function queryMembers(c: Ctx, route: Route): Record<string, JsonValue> {
  const members: Record<string, JsonValue> = Object.create(null);
  const fields = methodNamed(route.call).input.fields;
  for (const [name, values] of Object.entries(c.req.queries())) {
    const field = fields.find(({ jsonName }) => jsonName === name);
    if (field === undefined) throw invalid(`\`${name.slice(0, 64)}\` is unknown`);
    members[name] = field.fieldKind === "list" ? values : (values.at(-1) ?? "");
  }
  return members;
}

function invalid(what: string): AgentTxError {
  return new AgentTxError("INVALID_ARGUMENT", `The request was refused: ${what}.`);
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}

function isLocalHost(header: string | undefined): boolean {
  const host = (header ?? "").replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
