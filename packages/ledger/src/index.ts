// Owns the public list of @agenttx/ledger. Pure: no I/O, no clock, no randomness.

export type { BackoffLimits } from "./backoff.js";
export { backoffMs } from "./backoff.js";
export { canonicalJson } from "./canonical.js";
export { decodeEffect, decodeUndo, encodeEffect, encodeUndo } from "./codec.js";
export { isListed, isOpen, isSettled } from "./durability.js";
export { effectIdOf, effectSeqOf } from "./effect-id.js";
export type {
  EffectEvent,
  EffectEventType,
  EffectRejection,
  EffectTransition,
} from "./effect-machine.js";
export { advanceEffect, EFFECT_EDGES } from "./effect-machine.js";
export { checkJson, decodeRecord, encodeRecord, RECORD_VERSION } from "./json-bytes.js";
export type { NewEffect } from "./new-effect.js";
export { newEffect } from "./new-effect.js";
export { groupByEffect, newestFirst, planCompensation } from "./plan.js";
export type {
  CannotItem,
  CannotReason,
  CompensationPlan,
  LookUpItem,
  PlanInput,
  UndoFacts,
  UndoItem,
} from "./plan-types.js";
export type {
  RecoveryEvent,
  RecoveryRejection,
  RecoveryTransition,
  WorkflowRecovery,
  WorkflowState,
} from "./recovery-machine.js";
export { advanceRecovery, takeOwnership } from "./recovery-machine.js";
export { countUndoTry, markUndone, restateProblem } from "./undo-progress.js";
