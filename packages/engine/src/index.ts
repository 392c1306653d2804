// Owns the public list of @agenttx/engine.
export type {
  ToolContext,
  ToolDefinition,
  ToolState,
  UndoContext,
  UndoResult,
} from "@agenttx/model";
export { AgentTxError, DefiniteFailure, isAgentTxError, WriteConflictError } from "@agenttx/model";
export { auditedTransactions } from "./audit-retention.js";
export { defineTool } from "./define-tool.js";
export type { EffectLimits } from "./effects/effect-limits.js";
export { listNamespaces } from "./effects/namespaces.js";
export { problemText, reasonText, stateText } from "./effects/problem-text.js";
export { createEngine, type Engine } from "./engine.js";
export type { EngineOptions } from "./engine-options.js";
export type { HistoryEntry, HistoryStep } from "./history.js";
export type { ListTransactions } from "./list.js";
export type { BeginTransaction } from "./load.js";
export type { Clock, EngineEvent, EngineObserver, IdSource, SecretSource } from "./ports.js";
export type { RecoverOptions, RecoveryProblem, RecoveryReport } from "./recover.js";
export type { RetentionOptions, RetentionReport } from "./retention.js";
export type {
  BeginRevision,
  ForkRevision,
  RevisionBatch,
  RevisionFacts,
  RevisionName,
  Revisions,
  StateView,
} from "./revisions.js";
export { MANUAL_ROLLBACKS_MAX, type ReportedFailure } from "./rewind.js";
export type { RunTransaction } from "./run-transaction.js";
export { OUTPUT_BYTES_MAX } from "./step/execute.js";
export type { StepOptions } from "./step/request.js";
export { systemClock, systemIds } from "./system-ports.js";
export type {
  Reference,
  StepArguments,
  StepOutput,
  ToolName,
  ToolShape,
  WithReferences,
} from "./tool-types.js";
export type { Transaction } from "./transaction.js";
export type { ResolveEffect } from "./unresolved.js";
