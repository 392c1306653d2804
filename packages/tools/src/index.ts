// Owns the public list of @agenttx/tools.

export type { BuiltinOptions, BuiltinTool } from "./builtin.js";
export { builtinTools } from "./builtin.js";
export type { JsonLinesOptions } from "./effect/json-lines.js";
export { jsonLinesSink } from "./effect/json-lines.js";
export type { EffectSink, StagedEffect } from "./effect/sink.js";
export type { EffectOptions } from "./effect/tools.js";
export { effectTools } from "./effect/tools.js";
export type { FsOptions } from "./fs/tools.js";
export { fsTools } from "./fs/tools.js";
export type { KvOptions } from "./kv.js";
export { kvTools } from "./kv.js";
export type { ColumnDefinition, ColumnType, TableDefinition, Tables } from "./record/tables.js";
export type { RecordOptions } from "./record/tools.js";
export { recordTools } from "./record/tools.js";
export type { IsOpen, KeptFor } from "./sweep.js";
