// Owns loading the addon and the check that both sides speak of the same numbers.

import { AgentTxError } from "@agenttx/model";
import { loadAddon, type NativeAddon } from "@agenttx/native";
import { BATCH_OP, RECORD_SPACE } from "./batch-format.js";

function requireEqual(
  what: string,
  ours: Readonly<Record<string, number>>,
  theirs: Readonly<Record<string, number>>,
): void {
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  for (const name of names) {
    if (ours[name] === theirs[name]) continue;
    throw new AgentTxError(
      "ADDON_NOT_FOUND",
      `The addon is of another version: ${what}.${name} is ${theirs[name]}, not ${ours[name]}. Install @agenttx/storage and @agenttx/native of the same version.`,
    );
  }
}

/** Throws ADDON_NOT_FOUND with what was tried and how to fix it. Loading again is free. */
export function loadCheckedAddon(): NativeAddon {
  const addon = loadAddon();
  requireEqual("batchOps", BATCH_OP, addon.batchOps);
  requireEqual("recordSpaces", RECORD_SPACE, addon.recordSpaces);
  return addon;
}
