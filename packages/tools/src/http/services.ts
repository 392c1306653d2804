// Owns the list of services that may be called, and which of them a URL belongs to.
//
//   L1 What is not on the list is not called, redirects and cancel calls included.
//   L2 A prefix ends at a path segment, and a path that another parser could read in another way
//      is refused.

import type { BlockList } from "node:net";
import { AgentTxError } from "@agenttx/model";
import { listOf } from "./addresses.js";
import type { CallRule } from "./rules.js";

export const HTTP_METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Methods that change nothing by the rules of HTTP. */
export function readsOnly(method: string): boolean {
  return READS.has(method);
}

export interface HttpService {
  /** Origin and path prefix: `https://api.example.com/v1/`. */
  readonly url: string;
  /** Methods that agents may use. Default: all. */
  readonly methods?: readonly HttpMethod[];
  /**
   * Ranges that its name may resolve to although they are not public, for example
   * `["10.1.0.0/16"]` or `["127.0.0.1"]`. Default: none.
   */
  readonly networks?: readonly string[];
  /** Sent with every request; values may hold `${secrets.NAME}`. Agents cannot set these. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Header that carries the idempotency key. Default `idempotency-key`. */
  readonly idempotencyHeader?: string;
  /** Calls that can be looked up or cancelled. Others that change something are staged. */
  readonly calls?: readonly CallRule[];
}

/** A service, checked. */
export interface Service {
  readonly origin: string;
  /** Path prefix with a slash at its end. */
  readonly prefix: string;
  readonly methods: ReadonlySet<string>;
  readonly networks: BlockList | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly idempotencyHeader: string;
  readonly calls: readonly CallRule[];
}

function invalid(what: string): AgentTxError {
  return new AgentTxError("TOOL_INVALID", `${what}; no tool was made.`);
}

/** Throws TOOL_INVALID for an entry that cannot be meant. */
export function readService(entry: string | HttpService): Service {
  const given: HttpService = typeof entry === "string" ? { url: entry } : entry;
  const url = readUrl(given.url);
  if (typeof url === "string") throw invalid(`The service ${given.url}: ${url}`);
  if (url.search !== "" || url.hash !== "") {
    throw invalid(`The service ${given.url} has a query or fragment`);
  }
  const headers = Object.entries(given.headers ?? {}).map(([name, value]) => {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw invalid(`${name} is no header name`);
    return [name.toLowerCase(), value] as const;
  });
  return {
    origin: url.origin,
    prefix: url.pathname.endsWith("/") ? url.pathname : `${url.pathname}/`,
    methods: new Set(given.methods ?? HTTP_METHODS),
    networks: given.networks === undefined ? null : listOf(given.networks),
    headers: Object.fromEntries(headers),
    idempotencyHeader: (given.idempotencyHeader ?? "idempotency-key").toLowerCase(),
    calls: given.calls ?? [],
  };
}

/** The URL as the platform reads it, or why it is not taken (L2). */
export function readUrl(text: string): URL | string {
  if (text.length > 8_000) return "the URL is longer than 8,000 characters";
  if (!URL.canParse(text)) return "this is no absolute URL";
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return "only http and https are taken";
  if (url.username !== "" || url.password !== "") return "credentials in the URL are not taken";
  // A server may decode these after the prefix was compared.
  if (/%2f|%5c|%00|%2e/i.test(url.pathname)) return "encoded separators in the path are not taken";
  return url;
}

/** The service that a URL belongs to, the one with the longest prefix; null: none (L1). */
export function serviceOf(services: readonly Service[], url: URL): Service | null {
  let found: Service | null = null;
  for (const service of services) {
    if (!covers(service, url)) continue;
    if (found === null || service.prefix.length > found.prefix.length) found = service;
  }
  return found;
}

function covers({ origin, prefix }: Service, url: URL): boolean {
  if (url.origin !== origin) return false;
  return url.pathname.startsWith(prefix) || `${url.pathname}/` === prefix;
}
