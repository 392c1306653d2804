// Owns the public list of @agenttx/server.
export type { Principal, Scope } from "./auth/principal.js";
export type { TokenEntry } from "./auth/tokens.js";
export { hashToken, makeToken, readTokens } from "./auth/tokens.js";
export type { ConfigSources, LoadedConfig, Origin } from "./config.js";
export { loadConfig } from "./config.js";
export { openApiDocument } from "./http/openapi.js";
export { NOT_OVER_HTTP, STREAM_ROUTES, UNARY_ROUTES } from "./http/routes.js";
export type { RunningServer, ServerOptions } from "./server.js";
export { startServer } from "./server.js";
export type { SettingName, Settings } from "./settings.js";
export {
  environmentName,
  fileName,
  flagName,
  SETTING_NAMES,
  settingsSchema,
} from "./settings.js";
