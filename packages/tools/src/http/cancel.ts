// Owns finding a call by its key and cancelling it, by the rules of the deployment (E5, E8, E9).
//
//   X1 A status that no rule speaks of decides nothing: it is an error, and is tried again.
//   X2 Without the answer of a call, the service is asked first; without a way to ask, a person is.

import type { JsonValue, LookupResult, UndoResult } from "@agenttx/model";
import { dirtyResult } from "../owned.js";
import {
  type AnyAnswer,
  type ClientSettings,
  failureOf,
  type HttpAnswer,
  sendCall,
} from "./client.js";
import type { CallRule, CancelRule, LookupRule } from "./rules.js";
import { readUrl, type Service } from "./services.js";
import { fieldOf, fillBody, fillUrl, mentions, type TemplateValues } from "./template.js";

/** One call of a service, as far as it is known. */
export interface KnownCall {
  readonly service: Service;
  readonly rule: CallRule;
  /** Arguments of the call: `method`, `url`, `body`. */
  readonly request: JsonValue;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

const GONE = [404, 410];
const CONFLICT = [409, 412, 423];

function valuesOf(call: KnownCall, more: TemplateValues = {}): TemplateValues {
  return { key: call.idempotencyKey, request: call.request, ...more };
}

function urlIn(service: Service, path: string, values: TemplateValues): string {
  const text = service.origin + service.prefix + fillUrl(path.replace(/^\//, ""), values);
  const url = readUrl(text);
  // Values are encoded, so only a template itself could lead out of the service.
  if (typeof url === "string" || !url.pathname.startsWith(service.prefix)) {
    throw new Error(`the path ${path} does not lead to its service`);
  }
  return text;
}

/** Did the call take effect? REQUIRES: the rule has a lookup. */
export async function findCall(
  settings: ClientSettings,
  call: KnownCall,
  rule: LookupRule,
): Promise<LookupResult<HttpAnswer>> {
  const any = await sendCall(settings, {
    method: "GET",
    url: urlIn(call.service, rule.path, valuesOf(call)),
    idempotencyKey: null,
    signal: call.signal,
  });
  const { status, headers, body } = any.answer;
  const absent = { status: "absent", final: rule.final ?? false } as const;
  if ((rule.absent ?? GONE).includes(status)) return absent;
  if (status < 200 || status > 299) throw failureOf(any);
  const found = fieldOf(body, rule.at ?? "");
  if (found === undefined || found === null) return absent;
  if (rule.cancelled !== undefined) {
    const value = fieldOf(found, rule.cancelled.field);
    const cancelled = rule.cancelled.values.some((each) => each === value);
    // What was cancelled under this key does not come back under it.
    if (cancelled) return { status: "absent", final: true };
  }
  return { status: "landed", output: { status: rule.status ?? status, headers, body: found } };
}

/**
 * Cancels the call. `output` null: its answer is not known, so it is looked up first when the
 * cancellation needs it. `settle` waits until a call under way would have arrived.
 */
export async function cancelCall(
  settings: ClientSettings,
  call: KnownCall,
  known: {
    readonly output: HttpAnswer | null;
    readonly undoKey: string;
    readonly settle: () => Promise<void>;
  },
): Promise<UndoResult> {
  const { cancel, lookup } = call.rule;
  if (cancel === undefined) throw new Error("no rule says how this call is cancelled");
  let { output } = known;
  if (output === null && needsOutput(cancel)) {
    if (lookup === undefined) {
      return dirtyResult("the answer of the call", "none, and no rule says how to look it up");
    }
    const found = await findSettled(settings, call, lookup, known.settle);
    if (found.status !== "landed") return { status: "already-undone" };
    output = found.output ?? null;
  }
  return send(settings, call, cancel, { output, undoKey: known.undoKey });
}

function needsOutput(cancel: CancelRule): boolean {
  return mentions(cancel.path, "output") || mentions(cancel.body, "output");
}

/** An absence that may still change is asked for twice (E5). */
async function findSettled(
  settings: ClientSettings,
  call: KnownCall,
  rule: LookupRule,
  settle: () => Promise<void>,
): Promise<LookupResult<HttpAnswer>> {
  const first = await findCall(settings, call, rule);
  if (first.status !== "absent" || first.final) return first;
  await settle();
  return findCall(settings, call, rule);
}

async function send(
  settings: ClientSettings,
  call: KnownCall,
  cancel: CancelRule,
  known: { readonly output: HttpAnswer | null; readonly undoKey: string },
): Promise<UndoResult> {
  const { output, undoKey } = known;
  const values = valuesOf(call, { undoKey, ...(output === null ? {} : { output }) });
  const etag = cancel.ifMatch === true ? output?.headers.etag : undefined;
  const any = await sendCall(settings, {
    method: cancel.method,
    url: urlIn(call.service, cancel.path, values),
    headers: etag === undefined ? {} : { "if-match": etag },
    ...(cancel.body === undefined
      ? {}
      : {
          body: { type: "application/json", text: JSON.stringify(fillBody(cancel.body, values)) },
        }),
    idempotencyKey: undoKey,
    signal: call.signal,
  });
  const { status } = any.answer;
  if (status >= 200 && status <= 299) return { status: "undone" };
  if ((cancel.gone ?? GONE).includes(status)) return { status: "already-undone" };
  if (!(cancel.conflict ?? CONFLICT).includes(status)) throw failureOf(any);
  return dirtyResult(expectedOf(output, etag), conflictOf(any));
}

function expectedOf(output: HttpAnswer | null, etag: string | undefined): string {
  if (etag !== undefined) return `version ${etag}`;
  return output === null ? "a call that can be cancelled" : `as answered with ${output.status}`;
}

const SHOWN_MAX = 200;

function conflictOf({ answer, text, statusText }: AnyAnswer): string {
  return `${answer.status} ${statusText}: ${text.slice(0, SHOWN_MAX)}`;
}
