// Owns the public list of the package `agenttx`: what a program needs to run plans and to draw
// timelines itself. The command is bin/agenttx.js.

export { EXIT, type ExitCode, exitCodeOf } from "./exit-codes.js";
export { API_VERSION, type Paint, painter, type Style } from "./output.js";
export {
  type Plan,
  type PlanAlternative,
  type PlanDecision,
  parsePlan,
  readPlan,
} from "./plan/schema.js";
export { type Choice, type LearnedHint, ScriptedAgent } from "./plan/scripted-agent.js";
export type {
  AgentLine,
  EngineLine,
  LookupLine,
  NoticeLine,
  OutcomeLine,
  RunLine,
} from "./run/events.js";
export type {
  RecoverySummary,
  RollbackFigure,
  RunResult,
  RunStatus,
  StepFigure,
} from "./run/result.js";
export { type PlanTransaction, type RunPlanOptions, runPlan } from "./run/run-plan.js";
export { formatMs } from "./timeline/duration.js";
export { type Symbols, symbolsFor } from "./timeline/symbols.js";
export { Timeline, type TimelineOptions } from "./timeline/timeline.js";
