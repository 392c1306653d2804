// Owns what `agenttx doctor` says of the native addon: is it there, and where was it found.

import { createRequire } from "node:module";
import { loadAddon, platformTriple } from "@agenttx/native";

export interface AddonFinding {
  readonly platform: string;
  /** File that was loaded, or null. */
  readonly path: string | null;
  /** Why it was not, with what was tried and the fix; null when it was loaded. */
  readonly problem: string | null;
}

/** Loads the addon as a store would. Never throws. */
export function findAddon(): AddonFinding {
  const platform = platformTriple();
  try {
    loadAddon();
  } catch (error) {
    return { platform, path: null, problem: error instanceof Error ? error.message : "unknown" };
  }
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  return {
    platform,
    path: loaded.find((file) => /agenttx.*\.node$/.test(file)) ?? "",
    problem: null,
  };
}
