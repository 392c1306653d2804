// Owns the public names of the package.

export type { CleanHint, HintCategory } from "@agenttx/model";
export { cleanError } from "./clean-error.js";
export { redact, redactSecrets } from "./redact.js";
