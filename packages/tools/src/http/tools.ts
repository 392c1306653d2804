// Owns http.request: calls of listed services, with the effect class that their method and the
// rules of the deployment give them.

import { setTimeout as wait } from "node:timers/promises";
import {
  AgentTxError,
  type EffectClass,
  type JsonValue,
  type LookupResult,
  type UndoContext,
  type UndoResult,
} from "@agenttx/model";
import { z } from "zod";
import type { SecretSource } from "../secret-source.js";
import { tool } from "../tool.js";
import { cancelCall, findCall, type KnownCall } from "./cancel.js";
import { type ClientSettings, type HttpAnswer, sendForSuccess } from "./client.js";
import { type ResolveHost, systemResolve } from "./resolve.js";
import { checkRule, ruleOf } from "./rules.js";
import {
  HTTP_METHODS,
  type HttpService,
  readService,
  readsOnly,
  readUrl,
  type Service,
  serviceOf,
} from "./services.js";

export interface HttpOptions {
  /** Services that may be called; a text is a URL prefix. At least one. */
  readonly allow: readonly (string | HttpService)[];
  /** Where `${secrets.NAME}` in configured headers comes from. */
  readonly secrets?: SecretSource;
  /** Milliseconds for one call, answer included. Default 30,000. */
  readonly timeoutMs?: number;
  /** Longest answer, in bytes. Default 1 MiB. */
  readonly bytesMax?: number;
  /** Redirects that a read follows, each checked. Default 0. */
  readonly redirectsMax?: number;
  /** Milliseconds between two lookups of a call whose answer is lost. Default 2,000. */
  readonly settleMs?: number;
  /** How names become addresses. Default: the system. */
  readonly resolve?: ResolveHost;
}

/** Headers that a request has of its own, that speak for somebody, or that route it elsewhere. */
const RESERVED_HEADER =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-length|accept-encoding|authorization|cookie|forwarded|x-forwarded-.*|x-http-method.*|idempotency-key)$/i;

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,4000}$/;

type RequestArgs = {
  readonly method: (typeof HTTP_METHODS)[number];
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: JsonValue | undefined;
  readonly text?: string | undefined;
};

function schemaFor(services: readonly Service[]) {
  return z
    .strictObject({
      method: z.enum(HTTP_METHODS),
      url: z.string().describe("Absolute URL of a listed service"),
      headers: z
        .record(z.string().regex(HEADER_NAME), z.string().regex(HEADER_VALUE))
        .optional()
        .describe("Credentials are not set here: the configuration has them"),
      body: z.json().optional().describe("Sent as JSON"),
      text: z.string().optional().describe("Sent as plain text, instead of body"),
    })
    .superRefine((args, context) => {
      const refuse = (path: string, message: string): void =>
        context.addIssue({ code: "custom", path: [path], message });
      const url = readUrl(args.url);
      if (typeof url === "string") return refuse("url", url);
      const service = serviceOf(services, url);
      if (service === null) return refuse("url", "this URL is not on the list of services");
      if (!service.methods.has(args.method)) refuse("method", "not allowed for this service");
      const reserved = Object.keys(args.headers ?? {}).find(
        (name) =>
          RESERVED_HEADER.test(name) ||
          Object.hasOwn(service.headers, name.toLowerCase()) ||
          name.toLowerCase() === service.idempotencyHeader,
      );
      if (reserved !== undefined) refuse("headers", `${reserved} is set by the configuration`);
      const given = [args.body, args.text].filter((each) => each !== undefined).length;
      if (given > 1) refuse("text", "give body or text, not both");
      if (given > 0 && (args.method === "GET" || args.method === "HEAD")) {
        refuse("body", "a GET or HEAD has no body");
      }
    });
}

function bodyOf(args: RequestArgs) {
  if (args.text !== undefined)
    return { body: { type: "text/plain; charset=utf-8", text: args.text } };
  if (args.body === undefined) return {};
  return { body: { type: "application/json", text: JSON.stringify(args.body) } };
}

/**
 * `http.request { method, url, headers, body, text }` -> `{ status, headers, body }`. GET, HEAD and
 * OPTIONS only read. Other methods are reversible when a rule of the service says how the call is
 * cancelled; else they are staged: sent after the commit. An answer that is no success throws.
 * Throws TOOL_INVALID when the list or a rule cannot be meant.
 */
export function httpTools(options: HttpOptions) {
  if (options.allow.length === 0) {
    throw new AgentTxError("TOOL_INVALID", "http.request needs at least one service; none given.");
  }
  const services = options.allow.map(readService);
  for (const { calls } of services) calls.forEach(checkRule);
  const settings: ClientSettings = {
    services,
    secrets: options.secrets ?? null,
    resolve: options.resolve ?? systemResolve,
    timeoutMs: options.timeoutMs ?? 30_000,
    bytesMax: options.bytesMax ?? 1024 * 1024,
    redirectsMax: options.redirectsMax ?? 0,
  };
  const knownCall = (args: RequestArgs, context: UndoContext): KnownCall | null => {
    const found = ruledCall(services, args);
    if (found === null) return null;
    const request = JSON.parse(JSON.stringify(args)) as JsonValue;
    const { idempotencyKey, signal } = context;
    return { ...found, request, idempotencyKey, signal };
  };
  const find = async (
    args: RequestArgs,
    context: UndoContext,
  ): Promise<LookupResult<HttpAnswer>> => {
    const call = knownCall(args, context);
    if (call?.rule.lookup === undefined) return { status: "unknown" };
    return findCall(settings, call, call.rule.lookup);
  };

  const request = tool({
    name: "http.request",
    description: "Calls a service over HTTP",
    version: "1",
    schema: schemaFor(services),
    effect: (args: RequestArgs): EffectClass => {
      if (readsOnly(args.method)) return "read-only";
      return ruledCall(services, args)?.rule.cancel === undefined ? "irreversible" : "reversible";
    },
    irreversible: "staged",
    deadlineMs: settings.timeoutMs,
    execute: (args: RequestArgs, { idempotencyKey, signal }): Promise<HttpAnswer> =>
      sendForSuccess(settings, {
        method: args.method,
        url: args.url,
        headers: args.headers ?? {},
        ...bodyOf(args),
        idempotencyKey: readsOnly(args.method) ? null : idempotencyKey,
        signal,
      }),
    compensate: async ({ args, output }, context): Promise<UndoResult> => {
      const call = knownCall(args, context);
      if (call === null) throw new Error("no rule says any more how this call is cancelled");
      const { undoKey, signal } = context;
      const settle = () => wait(options.settleMs ?? 2_000, undefined, { signal });
      return cancelCall(settings, call, { output, undoKey, settle });
    },
    verify: async ({ args }, context): Promise<boolean> => {
      const found = await find(args, context);
      return found.status !== "landed";
    },
    lookup: ({ args }, context) => find(args, context),
  });
  return [request] as const;
}

function ruledCall(services: readonly Service[], args: RequestArgs) {
  const url = readUrl(args.url);
  const service = typeof url === "string" ? null : serviceOf(services, url);
  if (service === null || typeof url === "string") return null;
  const rule = ruleOf(service, args.method, url);
  return rule === null ? null : { service, rule };
}
