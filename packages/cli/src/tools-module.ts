// Owns the loading of a user's tools: `--tools module`, a file or a package that exports `tools`.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ToolShape } from "@agenttx/engine";
import { AgentTxError } from "@agenttx/model";

/**
 * The tools a module exports as `tools`: an array, or a function that returns one (or a promise of
 * one). `specifier` is a path, tried first, or a package name, both seen from `from`. NOT_FOUND when
 * there is no such module, TOOL_INVALID when it exports no tools or fails to load.
 */
export async function loadTools(
  specifier: string,
  from: string = process.cwd(),
): Promise<readonly ToolShape[]> {
  const url = locate(specifier, from);
  let module: { tools?: unknown };
  try {
    module = (await import(url)) as { tools?: unknown };
  } catch (cause) {
    throw invalid(specifier, `it cannot be loaded: ${(cause as Error).message}`, cause);
  }
  const exported = module.tools;
  const tools: unknown =
    typeof exported === "function" ? await (exported as () => unknown)() : exported;
  if (!Array.isArray(tools)) throw invalid(specifier, "it exports no array named `tools`");
  // Each definition is checked by the engine's registry.
  return tools as readonly ToolShape[];
}

/** The address of a module given by path or package name. Throws NOT_FOUND. */
export function locate(specifier: string, from: string = process.cwd()): string {
  const path = resolve(from, specifier);
  if (existsSync(path)) return pathToFileURL(path).href;
  try {
    return pathToFileURL(createRequire(resolve(from, "package.json")).resolve(specifier)).href;
  } catch (cause) {
    throw new AgentTxError(
      "NOT_FOUND",
      `The tools module ${specifier} was not found; give a path or an installed package.`,
      { details: { module: specifier }, cause },
    );
  }
}

function invalid(specifier: string, why: string, cause?: unknown): AgentTxError {
  return new AgentTxError("TOOL_INVALID", `The tools module ${specifier} is of no use: ${why}.`, {
    details: { module: specifier },
    cause,
  });
}
