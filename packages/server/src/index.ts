// Owns the public list of @agenttx/server.
export type { Principal, Scope } from "./auth/principal.js";
export { SCOPES } from "./auth/principal.js";
export { createToken, revokeToken } from "./auth/token-store.js";
export type { TokenEntry } from "./auth/tokens.js";
export { hashToken, makeToken, readTokens } from "./auth/tokens.js";
export type { ConfigSources, LoadedConfig, Origin } from "./config.js";
export { loadConfig } from "./config.js";
export { openApiDocument } from "./http/openapi.js";
export { NOT_OVER_HTTP, STREAM_ROUTES, UNARY_ROUTES } from "./http/routes.js";
export type { RunningServer, ServerOptions } from "./server.js";
export { startServer } from "./server.js";
export type { SettingFacts, SettingName, Settings } from "./settings.js";
export { SETTING_NAMES, settingFacts, settingsSchema } from "./settings.js";
export { VERSION } from "./version.js";
