// Owns the public list of @agenttx/recovery.

export type { ApplyOptions } from "./apply.js";
export type { Attention, RecoveryState } from "./attention.js";
export type { Checkpoint } from "./checkpoint.js";
export type { CheckpointChoice } from "./choose-checkpoint.js";
export type { RecoveredEvent } from "./core.js";
export type { DrilledWorkflow, DrillOptions, DrillReport } from "./drill.js";
export { runDrill } from "./drill.js";
export type { DrillOwners, DrillTool, OwnerBehaviour } from "./drill-owners.js";
export type { FreezeRequest } from "./freeze.js";
export type { Invariant, InvariantAnswer, InvariantResult, LedgerView } from "./invariant.js";
export { defineInvariant } from "./invariant.js";
export type { Migration, MigrationState } from "./migrations.js";
export type { LocalMutation, RecoveryPlan } from "./plan.js";
export type { Evidence, ReconciliationItem } from "./reconciliation.js";
export type { ListWorkflows, PlanOptions, RecoveryOptions } from "./recovery.js";
export { createRecovery, Recovery } from "./recovery.js";
export type { ResumeReport } from "./resume-all.js";
export type { Fact, RevisionStory, WorkflowReplay, WorkflowStory } from "./story.js";
export type { WorkflowView } from "./view.js";
export { Workflow } from "./workflow.js";
export type { RecordedEvent, WorkflowEventName } from "./workflow-audit.js";
export type { CheckpointRef, RevisionEntry } from "./workflow-record.js";
export type { StartWorkflow } from "./workflows.js";
