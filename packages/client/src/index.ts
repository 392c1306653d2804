// Owns the public list of @agenttx/client.
export { AgentTxError, DefiniteFailure, isAgentTxError } from "@agenttx/model";
export type { AgentTxClient, BeginClientOptions } from "./client.js";
export { createClient } from "./client.js";
export type { HistoryEntry, Resolution, TransactionSummary } from "./operators.js";
export type { ClientOptions, TlsOptions } from "./options.js";
export type { ClientWorkflowStory, StartClientWorkflow } from "./recovery.js";
export { ClientRecovery } from "./recovery.js";
export type { AgentAction, AgentMemory, AgentRun, AgentTransaction } from "./run-agent.js";
export { runAgent } from "./run-agent.js";
export type { LocalTool } from "./tool-calls.js";
export type {
  Reference,
  StepArguments,
  StepOutput,
  ToolLike,
  ToolName,
  WithReferences,
} from "./tool-types.js";
export type { CallSignal, StepOptions } from "./transaction.js";
export { ClientTransaction } from "./transaction.js";
export type { ServeOptions, Worker } from "./worker.js";
export { ClientWorkflow } from "./workflow.js";
