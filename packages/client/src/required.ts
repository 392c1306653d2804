// Owns the members that a server always sends and protobuf cannot demand.

import { AgentTxError } from "@agenttx/model";

/** Throws INTERNAL for an answer without it: the other side is no AgentTx server. */
export function required<Value>(value: Value | undefined, name: string): Value {
  if (value !== undefined) return value;
  throw new AgentTxError("INTERNAL", `The server's answer has no ${name}.`);
}
