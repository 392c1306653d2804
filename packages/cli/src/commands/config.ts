// Owns `agenttx config`, and how the flags of `serve` become settings.

import type { LoadedConfig } from "@agenttx/server";
import { EXIT } from "../exit-codes.js";
import { API_VERSION } from "../output.js";
import type { CommandContext } from "../program.js";
import { tableLines } from "../table.js";

/** By setting name, as given on the command line; `config` is the path of the file. */
export type FlagValues = Readonly<Record<string, unknown>> & { readonly config?: string };

/** Throws INVALID_ARGUMENT with one line for each setting that cannot be. */
export async function readConfig(flags: FlagValues): Promise<LoadedConfig> {
  const { loadConfig } = await import("@agenttx/server");
  return loadConfig({ flags, file: flags.config });
}

interface Row {
  readonly name: string;
  readonly value: unknown;
  readonly origin: string;
  readonly environment: string;
}

/** Every setting with its value and where it comes from. */
export async function config(context: CommandContext, flags: FlagValues): Promise<number> {
  const { output } = context;
  const { settingFacts } = await import("@agenttx/server");
  const { settings, origins } = await readConfig(flags);
  const rows = settingFacts().map(({ name, environment }) => ({
    name,
    value: settings[name] ?? null,
    origin: origins[name],
    environment,
  }));
  output.data({ apiVersion: API_VERSION, type: "config", settings: rows });
  const columns = [
    { title: "setting", value: (row: Row) => row.name },
    { title: "value", value: (row: Row) => valueText(row.value) },
    { title: "from", value: (row: Row) => row.origin },
    { title: "environment", value: (row: Row) => row.environment },
  ];
  for (const line of tableLines(rows, columns, output.paint)) output.line(line);
  return EXIT.OK;
}

function valueText(value: unknown): string | null {
  if (value === null) return null;
  return Array.isArray(value) ? value.join(", ") : String(value);
}
