// Owns what a deployment declares about calls of a service: how they are found and cancelled.

import type { JsonValue } from "@agenttx/model";
import { AgentTxError } from "@agenttx/model";
import type { HttpMethod, Service } from "./services.js";

/**
 * Templates may name `{key}` (idempotency key of the call), `{undoKey}`, `{request.body.x}` and, in
 * a cancellation, `{output.body.x}`. Paths are relative to the service.
 */
export interface CallRule {
  readonly method: Exclude<HttpMethod, "GET" | "HEAD" | "OPTIONS">;
  /** Below the service's URL; `*` stands for one segment: `bookings`, or `*` for any. */
  readonly path: string;
  /** How it is undone. With it the call is reversible, without it staged until the commit. */
  readonly cancel?: CancelRule;
  /** How it is found by its key. */
  readonly lookup?: LookupRule;
}

export interface CancelRule {
  readonly method: HttpMethod;
  readonly path: string;
  readonly body?: JsonValue;
  /** Send the ETag of the call's answer as If-Match: changed since = conflict (E9). */
  readonly ifMatch?: boolean;
  /** Statuses that mean it is not there any more, hence undone. Default 404, 410. */
  readonly gone?: readonly number[];
  /** Statuses that mean it cannot be cancelled any more: a person. Default 409, 412, 423. */
  readonly conflict?: readonly number[];
}

export interface LookupRule {
  /** Answered by GET. */
  readonly path: string;
  /** Where the answer holds the body that the call answered: `items.0`. Default: all of it. */
  readonly at?: string;
  /** Status that the call itself answers with, for the output. Default: that of the lookup. */
  readonly status?: number;
  /** Statuses that mean it is not there. Default 404, 410. */
  readonly absent?: readonly number[];
  /** It is there but cancelled when this field of that body has one of these values. */
  readonly cancelled?: { readonly field: string; readonly values: readonly JsonValue[] };
  /** The service refuses a key once a lookup has called it absent. Default false. */
  readonly final?: boolean;
}

/** The rule for a call; null: none. REQUIRES: the service covers the URL. */
export function ruleOf(service: Service, method: string, url: URL): CallRule | null {
  const rest = url.pathname.slice(service.prefix.length).replace(/\/$/, "").split("/");
  for (const rule of service.calls) {
    if (rule.method !== method) continue;
    const wanted = rule.path.replace(/^\/|\/$/g, "").split("/");
    if (wanted.length !== rest.length) continue;
    if (wanted.every((part, at) => (part === "*" ? rest[at] !== "" : part === rest[at]))) {
      return rule;
    }
  }
  return null;
}

/** Throws TOOL_INVALID for a rule that could not be followed. */
export function checkRule(rule: CallRule): void {
  const paths = [rule.path, rule.cancel?.path, rule.lookup?.path];
  for (const path of paths) {
    if (path === undefined || !/^[a-z][a-z0-9+.-]*:|^\/\/|(^|\/)\.\.?(\/|$)/i.test(path)) continue;
    throw new AgentTxError(
      "TOOL_INVALID",
      `The path ${path} of a call is not relative to its service; no tool was made.`,
    );
  }
}
