// Owns the entry point @agenttx/tools/http.

export type { HttpAnswer } from "./http/client.js";
export type { HostAddress, ResolveHost } from "./http/resolve.js";
export type { CallRule, CancelRule, LookupRule } from "./http/rules.js";
export type { HttpMethod, HttpService } from "./http/services.js";
export type { HttpOptions } from "./http/tools.js";
export { httpTools } from "./http/tools.js";
export type { WebhookOptions } from "./http/webhook.js";
export { webhookSink } from "./http/webhook.js";
export type { SecretSource } from "./secret-source.js";
