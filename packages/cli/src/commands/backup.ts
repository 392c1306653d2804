// Owns `agenttx backup`: a copy that opens like the original.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { AgentTxError } from "@agenttx/model";
import { EXIT } from "../exit-codes.js";
import { API_VERSION } from "../output.js";
import type { CommandContext } from "../program.js";
import { openExistingStore } from "../session.js";
import { formatMs } from "../timeline/duration.js";

/** Refuses a destination that exists with INVALID_ARGUMENT; it is left as it is. */
export async function backup(context: CommandContext, destination: string): Promise<number> {
  const { output, dataDirectory } = context;
  const path = resolve(destination);
  if (existsSync(path)) {
    throw new AgentTxError(
      "INVALID_ARGUMENT",
      `${path} exists already and is left as it is. Give a directory that does not exist.`,
      { details: { path } },
    );
  }
  const store = await openExistingStore(dataDirectory);
  try {
    const startedAt = performance.now();
    await store.checkpoint(path);
    const { commitVersion } = await store.stats();
    const durationMs = performance.now() - startedAt;
    output.data({ apiVersion: API_VERSION, type: "backup", path, commitVersion, durationMs });
    output.line(`copied to ${path}, commit version ${commitVersion}, ${formatMs(durationMs)}`);
    return EXIT.OK;
  } finally {
    await store.close();
  }
}
