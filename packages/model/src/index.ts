// Owns the public list of @agenttx/model. No I/O, no clock, no dependency.
import * as limits from "./limits.js";

export type {
  EffectClass,
  EffectRecord,
  EffectState,
  Resolution,
  ResolutionKind,
  UndoAction,
} from "./effect.js";
export type { ErrorCode, ErrorDetails } from "./errors.js";
export {
  AgentTxError,
  ERROR_CODES,
  isAgentTxError,
  printableKey,
  WriteConflictError,
} from "./errors.js";
export type { CleanHint, HintCategory } from "./hint.js";
export type { JsonArray, JsonObject, JsonPrimitive, JsonValue } from "./json.js";
export type {
  DependencyPathEdge,
  RollbackCandidate,
  RollbackCounters,
  RollbackDecision,
  RollbackPolicy,
  RollbackReason,
  RollbackStrategy,
} from "./policy.js";
export type {
  AuditEntry,
  BatchExtras,
  BeginOptions,
  Bytes,
  CommitBatch,
  CommitResult,
  EndedBatch,
  Fence,
  Key,
  NamespaceOption,
  OpenTransaction,
  ReadOptions,
  RecordEntry,
  RecordKey,
  RecordSpace,
  RecordWrite,
  RestoreOptions,
  RestoreResult,
  ScanEntry,
  ScanRange,
  StepBatch,
  Store,
  StoreStats,
  StoreTransaction,
  TransactionHeader,
  Write,
} from "./store.js";
export type {
  ArgumentSchema,
  LookupResult,
  SchemaIssue,
  SchemaResult,
  StateEntry,
  StateRange,
  ToolContext,
  ToolDefinition,
  ToolState,
  UndoContext,
  UndoResult,
} from "./tool.js";
export { DefiniteFailure } from "./tool.js";
export type {
  CommitOutcome,
  CompensationError,
  Constraint,
  ContextEntry,
  RollbackOutcome,
  StepFailed,
  StepNumber,
  StepOutcome,
  StepRolledBack,
  StepSucceeded,
  TransactionStatus,
  TransactionView,
} from "./transaction.js";
export type {
  Checkpoint,
  CheckpointRef,
  Evidence,
  InvariantResult,
  ReconciliationItem,
  RevisionEntry,
  WorkflowState,
  WorkflowView,
} from "./workflow.js";
export type {
  CannotItem,
  CannotReason,
  LocalMutation,
  LookUpItem,
  RecoveryPlan,
  UndoItem,
} from "./workflow-plan.js";
export { limits };
