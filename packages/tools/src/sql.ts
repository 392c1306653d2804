// Owns the entry point @agenttx/tools/sql.

export type { SqlChange } from "./sql/change.js";
export type { SqliteDatabase } from "./sql/driver.js";
export type { SqlRows } from "./sql/query.js";
export type { SqlOptions } from "./sql/tools.js";
export { sqlTools } from "./sql/tools.js";
export type { SqlParameter } from "./sql/values.js";
export type { IsOpen, KeptFor } from "./sweep.js";
