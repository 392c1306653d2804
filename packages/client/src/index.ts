// Owns the public list of @agenttx/client.
export type { AgentTxClient, BeginClientOptions } from "./client.js";
export { createClient } from "./client.js";
export type { ClientOptions, TlsOptions } from "./options.js";
export type { AgentAction, AgentMemory, AgentRun, AgentTransaction } from "./run-agent.js";
export { runAgent } from "./run-agent.js";
export type { CallSignal, StepOptions } from "./transaction.js";
export { ClientTransaction } from "./transaction.js";
