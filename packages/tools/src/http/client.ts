// Owns sending a call to a listed service: secrets in, checked addresses, redirects, secrets out.
//
//   W1 Every hop is checked like a first request: list, address, method (redirects too).
//   W2 Headers of the configuration go to their own service only; those of the agent not to
//      another origin.

import type { IncomingHttpHeaders } from "node:http";
import type { JsonValue } from "@agenttx/model";
import {
  type SecretSource,
  type UsedSecrets,
  withoutSecretValues,
  withSecrets,
} from "../secret-source.js";
import { answerError, httpRefusal } from "./errors.js";
import { exchange, type WireAnswer } from "./exchange.js";
import { checkedAddresses, type ResolveHost } from "./resolve.js";
import { readsOnly, readUrl, type Service, serviceOf } from "./services.js";

export interface ClientSettings {
  readonly services: readonly Service[];
  readonly secrets: SecretSource | null;
  readonly resolve: ResolveHost;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly redirectsMax: number;
}

export interface HttpCall {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly type: string; readonly text: string };
  /** Sent in the service's header for it; null: not sent. */
  readonly idempotencyKey: string | null;
  readonly signal: AbortSignal;
}

/** A type, not an interface: it has to be JSON. */
export type HttpAnswer = {
  readonly status: number;
  /** content-type, etag, location and retry-after, where the service sent them. */
  readonly headers: { readonly [name: string]: string };
  /** JSON as such, text as text, anything else as `{ base64 }`; null without a body. */
  readonly body: JsonValue;
};

const SHOWN_HEADERS = ["content-type", "etag", "location", "retry-after"];
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** An answer of any status, in the words of `HttpAnswer`; `text` is its body as text. */
export interface AnyAnswer {
  readonly answer: HttpAnswer;
  readonly text: string;
  readonly statusText: string;
}

/**
 * Sends, and answers whatever status came. Throws DefiniteFailure when nothing was sent; any other
 * error leaves open what happened.
 */
export async function sendCall(settings: ClientSettings, call: HttpCall): Promise<AnyAnswer> {
  const limit = AbortSignal.timeout(settings.timeoutMs);
  const signal = AbortSignal.any([call.signal, limit]);
  const used: UsedSecrets = new Map();
  let url = urlOf(call.url);
  let headers = call.headers ?? {};
  for (let hops = 0; ; hops += 1) {
    const answer = await hop(settings, { ...call, headers, signal }, url, used);
    const next = redirectOf(call.method, url, answer);
    if (next === null || settings.redirectsMax === 0) return shownAnswer(answer, used);
    if (hops === settings.redirectsMax) {
      throw httpRefusal(`more than ${settings.redirectsMax} redirects`);
    }
    if (next.origin !== url.origin) headers = {};
    url = next;
  }
}

/** Like `sendCall`; an answer that is no success is thrown, worded for hints. */
export async function sendForSuccess(
  settings: ClientSettings,
  call: HttpCall,
): Promise<HttpAnswer> {
  const any = await sendCall(settings, call);
  const { status } = any.answer;
  // See Other answers a change that was made; whoever only reads has not got what it asked for.
  if ((status >= 200 && status < 300) || (status === 303 && !readsOnly(call.method))) {
    return any.answer;
  }
  throw failureOf(any);
}

/** The error of an answer that is no success. */
export function failureOf({ answer, text, statusText }: AnyAnswer): Error {
  const seconds = Number(answer.headers["retry-after"] ?? "none");
  const retryAfter = Number.isInteger(seconds) && seconds >= 0 ? seconds : null;
  return answerError({ status: answer.status, statusText, retryAfter, text });
}

function urlOf(text: string): URL {
  const url = readUrl(text);
  if (typeof url === "string") throw httpRefusal(`${url}; nothing was sent`);
  return url;
}

async function hop(
  settings: ClientSettings,
  call: HttpCall,
  url: URL,
  used: UsedSecrets,
): Promise<WireAnswer> {
  const service = serviceOf(settings.services, url);
  if (service === null) {
    throw httpRefusal(`${url.origin} with this path is not on the list; nothing was sent`);
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(call.headers ?? {})) {
    headers[name.toLowerCase()] = value;
  }
  if (call.body !== undefined) headers["content-type"] = call.body.type;
  for (const [name, value] of Object.entries(service.headers)) {
    headers[name] = await withSecrets(value, settings.secrets, used);
  }
  if (call.idempotencyKey !== null) headers[service.idempotencyHeader] = call.idempotencyKey;
  const addresses = await checkedAddresses(url.hostname, service.networks, settings.resolve);
  if (call.signal.aborted) throw httpRefusal("stopped before anything was sent");
  return exchange({
    method: call.method,
    url,
    headers,
    body: call.body === undefined ? null : Buffer.from(call.body.text, "utf8"),
    addresses,
    bytesMax: settings.bytesMax,
    signal: call.signal,
  });
}

/** Where a read was redirected to; null: nowhere. Changes are never sent to another place. */
function redirectOf(method: string, from: URL, { status, headers }: WireAnswer): URL | null {
  if (!readsOnly(method) || !REDIRECTS.has(status) || headers.location === undefined) return null;
  if (!URL.canParse(headers.location, from.href)) return null;
  return urlOf(new URL(headers.location, from).href);
}

function shownAnswer(wire: WireAnswer, used: UsedSecrets): AnyAnswer {
  const { status, statusText, headers, body } = wire;
  if (wire.truncated) {
    throw new Error(`the answer (status ${status}) is longer than ${body.byteLength} bytes`);
  }
  const text = withoutSecretValues(textOf(body) ?? "", used);
  const shown = SHOWN_HEADERS.flatMap((name) => {
    const value = headers[name];
    return typeof value === "string" ? [[name, withoutSecretValues(value, used)]] : [];
  });
  const answer = {
    status,
    headers: Object.fromEntries(shown) as Record<string, string>,
    body: bodyOf(headers, body, text),
  };
  return { answer, text, statusText };
}

function textOf(body: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return null;
  }
}

function bodyOf(headers: IncomingHttpHeaders, body: Buffer, text: string): JsonValue {
  if (body.byteLength === 0) return null;
  const encoded = headers["content-encoding"] !== undefined;
  if (encoded || textOf(body) === null) return { base64: body.toString("base64") };
  if (!/[/+]json\b/i.test(headers["content-type"] ?? "")) return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
