// Owns which built-in tools a server has. What can reach files or the outside is off until it is
// given a place.

import { readFileSync } from "node:fs";
import type { ToolShape } from "@agenttx/engine";
import { AgentTxError } from "@agenttx/model";
import { builtinTools, jsonLinesSink, type Tables } from "@agenttx/tools";
import type { Settings } from "./settings.js";

export function serverTools(settings: Settings): ToolShape[] {
  const { fsRoot, effectSink, tablesFile } = settings;
  return builtinTools({
    ...(tablesFile === undefined ? {} : { record: { tables: readTables(tablesFile) } }),
    ...(fsRoot === undefined ? {} : { fs: { root: fsRoot } }),
    ...(effectSink === undefined
      ? {}
      : { effect: { sinks: { default: jsonLinesSink({ path: effectSink }) } } }),
  }) as ToolShape[];
}

/** The tools themselves check the tables' content. */
function readTables(path: string): Tables {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Tables;
  } catch (cause) {
    throw new AgentTxError("INVALID_ARGUMENT", `tables file ${path} is not readable as JSON`, {
      cause,
    });
  }
}
