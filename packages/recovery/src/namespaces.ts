// Owns which namespaces a start has to look into: the engine registers each before its first use.

import type { Store } from "@agenttx/model";
import { metaAfter } from "./workflow-store.js";

const PREFIX = "namespace/";

/** The default namespace first. */
export async function namespacesOf(store: Store): Promise<readonly string[]> {
  const found = [""];
  for await (const { name } of metaAfter({ store }, PREFIX, { namespace: "" })) {
    found.push(name.slice(PREFIX.length));
  }
  return found;
}
