// Owns what a staged tool sees of the state when it is sent after the commit: the committed values,
// read only.

import type { Store, ToolState } from "@agenttx/model";
import { AgentTxError } from "@agenttx/model";

export function committedState(store: Store, namespace: string): ToolState {
  return {
    get: (key) => store.get(key, { namespace }),
    scan: (range) => store.scan({ ...range, namespace }),
    put: refuse,
    delete: refuse,
  };
}

function refuse(): never {
  throw new AgentTxError(
    "TRANSACTION_ENDED",
    "A staged effect is sent after its transaction committed; it can read the state, not write it.",
  );
}
