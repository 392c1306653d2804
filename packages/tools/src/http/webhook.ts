// Owns the webhook sink: a staged effect as one POST, for `effect.stage`.

import { createHmac } from "node:crypto";
import { AgentTxError } from "@agenttx/model";
import type { EffectSink, StagedEffect } from "../effect/sink.js";
import { type SecretSource, withSecrets } from "../secret-source.js";
import { type ClientSettings, failureOf, sendCall } from "./client.js";
import { type ResolveHost, systemResolve } from "./resolve.js";
import { type HttpService, readService } from "./services.js";
import { fillUrl } from "./template.js";

export interface WebhookOptions
  extends Pick<HttpService, "networks" | "headers" | "idempotencyHeader"> {
  /** Where the POST goes. */
  readonly url: string;
  /** Where `${secrets.NAME}` in headers and `signingSecret` comes from. */
  readonly secrets?: SecretSource;
  /**
   * Signs the message as Standard Webhooks do (`webhook-id`, `webhook-timestamp`,
   * `webhook-signature`). A text that holds `${secrets.NAME}`; `whsec_` means base64.
   */
  readonly signingSecret?: string;
  /** Statuses that mean that the receiver had it already. Default: none. */
  readonly duplicateStatuses?: readonly number[];
  /** Asks whether `{key}` has arrived, by GET: 2xx yes, 404 or 410 no. Below `url`'s origin. */
  readonly lookupUrl?: string;
  /** Milliseconds for one delivery. Default 10,000. */
  readonly timeoutMs?: number;
  readonly resolve?: ResolveHost;
  /** Milliseconds since 1970, for the signature. Default: the system's clock. */
  readonly now?: () => number;
}

const ANSWER_BYTES_MAX = 64 * 1024;

/**
 * A sink that POSTs `{ idempotencyKey, transaction, step, payload }` as JSON, with the key in a
 * header too. 2xx is delivered; anything else throws and is tried again. Redirects are not
 * followed. Throws TOOL_INVALID for a URL that cannot be meant.
 */
export function webhookSink(options: WebhookOptions): EffectSink {
  const { lookupUrl } = options;
  const { networks, headers, idempotencyHeader } = options;
  const service = readService({
    url: new URL(requireUrl(options.url)).origin,
    ...(networks === undefined ? {} : { networks }),
    ...(headers === undefined ? {} : { headers }),
    ...(idempotencyHeader === undefined ? {} : { idempotencyHeader }),
  });
  const settings: ClientSettings = {
    services: [service],
    secrets: options.secrets ?? null,
    resolve: options.resolve ?? systemResolve,
    timeoutMs: options.timeoutMs ?? 10_000,
    bytesMax: ANSWER_BYTES_MAX,
    redirectsMax: 0,
  };
  const sink: EffectSink = {
    deliver: async (effect, signal) => {
      const text = textOf(effect);
      const any = await sendCall(settings, {
        method: "POST",
        url: options.url,
        headers: await signatureOf(options, effect, text),
        body: { type: "application/json", text },
        idempotencyKey: effect.idempotencyKey,
        signal,
      });
      const { status } = any.answer;
      if (options.duplicateStatuses?.includes(status) === true) return { duplicate: true };
      if (status < 200 || status > 299) throw failureOf(any);
      return { duplicate: false };
    },
  };
  if (lookupUrl === undefined) return sink;
  return {
    ...sink,
    has: async (idempotencyKey) => {
      const any = await sendCall(settings, {
        method: "GET",
        url: fillUrl(lookupUrl, { key: idempotencyKey }),
        idempotencyKey: null,
        signal: new AbortController().signal,
      });
      const { status } = any.answer;
      if (status >= 200 && status <= 299) return true;
      if (status === 404 || status === 410) return false;
      throw failureOf(any);
    },
  };
}

function requireUrl(url: string): string {
  if (URL.canParse(url)) return url;
  throw new AgentTxError("TOOL_INVALID", "The URL of a webhook is absolute; no sink was made.");
}

function textOf({ idempotencyKey, transaction, step, payload }: StagedEffect): string {
  return JSON.stringify({ idempotencyKey, transaction, step, payload });
}

async function signatureOf(
  options: WebhookOptions,
  { idempotencyKey }: StagedEffect,
  text: string,
): Promise<Record<string, string>> {
  if (options.signingSecret === undefined) return {};
  const secret = await withSecrets(options.signingSecret, options.secrets ?? null, new Map());
  const bytes = secret.startsWith("whsec_")
    ? Buffer.from(secret.slice("whsec_".length), "base64")
    : Buffer.from(secret, "utf8");
  const timestamp = String(Math.floor((options.now ?? Date.now)() / 1000));
  const digest = createHmac("sha256", bytes)
    .update(`${idempotencyKey}.${timestamp}.${text}`)
    .digest("base64");
  return {
    "webhook-id": idempotencyKey,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${digest}`,
  };
}
