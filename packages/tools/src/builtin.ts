// Owns the collection of all built-in tools by what is configured.

import { type EffectOptions, effectTools } from "./effect/tools.js";
import { type FsOptions, fsTools } from "./fs/tools.js";
import { type KvOptions, kvTools } from "./kv.js";
import { type RecordOptions, recordTools } from "./record/tools.js";

export interface BuiltinOptions {
  /** false leaves kv tools out. Default: with their defaults. */
  readonly kv?: KvOptions | false;
  /** Omitted: no record tools. */
  readonly record?: RecordOptions;
  /** Omitted: no file tools. */
  readonly fs?: FsOptions;
  /** Omitted: no effect.stage. */
  readonly effect?: EffectOptions;
}

/** kv tools, and record, file and effect tools where their options are given. */
export function builtinTools(options: BuiltinOptions = {}) {
  return [
    ...(options.kv === false ? [] : kvTools(options.kv)),
    ...(options.record === undefined ? [] : recordTools(options.record)),
    ...(options.fs === undefined ? [] : fsTools(options.fs)),
    ...(options.effect === undefined ? [] : effectTools(options.effect)),
  ];
}

/** One of the built-in tools, with its own argument and output types. */
export type BuiltinTool = ReturnType<typeof builtinTools>[number];
