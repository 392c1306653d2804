// Owns the HTTP routes: one row a call. A test holds the table against the protocol.

import type { agentTxService } from "@agenttx/wire";
import type { UnaryName } from "../service/service.js";

type StreamName = "watchTransactions" | "getAudit" | "getWorkflowAudit" | "pullWork";

export interface Route<Name extends keyof typeof agentTxService = keyof typeof agentTxService> {
  readonly call: Name;
  readonly method: "get" | "post";
  /** `{name}` is filled into the request member of that name. */
  readonly path: string;
  readonly summary: string;
}

export const UNARY_ROUTES: readonly Route<UnaryName>[] = [
  {
    call: "beginTransaction",
    method: "post",
    path: "/v1/transactions",
    summary: "Begin a transaction",
  },
  {
    call: "listTransactions",
    method: "get",
    path: "/v1/transactions",
    summary: "List transactions",
  },
  {
    call: "getTransaction",
    method: "get",
    path: "/v1/transactions/{transactionId}",
    summary: "Read a transaction",
  },
  {
    call: "executeStep",
    method: "post",
    path: "/v1/transactions/{transactionId}/steps",
    summary: "Run one tool call",
  },
  {
    call: "prepareStep",
    method: "post",
    path: "/v1/transactions/{transactionId}/steps/prepare",
    summary: "Start a step whose tool runs on your side",
  },
  {
    call: "registerUndo",
    method: "post",
    path: "/v1/transactions/{transactionId}/steps/undo",
    summary: "Register an undo of a prepared step",
  },
  {
    call: "completeStep",
    method: "post",
    path: "/v1/transactions/{transactionId}/steps/complete",
    summary: "End a prepared step",
  },
  {
    call: "reportFailure",
    method: "post",
    path: "/v1/transactions/{transactionId}/failures",
    summary: "Report a finished step as wrong",
  },
  {
    call: "commitTransaction",
    method: "post",
    path: "/v1/transactions/{transactionId}/commit",
    summary: "Commit",
  },
  {
    call: "rollbackTransaction",
    method: "post",
    path: "/v1/transactions/{transactionId}/rollback",
    summary: "Rewind or abort",
  },
  {
    call: "listEffects",
    method: "get",
    path: "/v1/transactions/{transactionId}/effects",
    summary: "Effect ledger",
  },
  {
    call: "listReconciliation",
    method: "get",
    path: "/v1/reconciliation",
    summary: "Unresolved effects",
  },
  {
    call: "resolveEffect",
    method: "post",
    path: "/v1/reconciliation/resolve",
    summary: "Resolve an effect",
  },
  {
    call: "completeWork",
    method: "post",
    path: "/v1/work/complete",
    summary: "Answer a work item",
  },
  { call: "startWorkflow", method: "post", path: "/v1/workflows", summary: "Start a workflow" },
  { call: "listWorkflows", method: "get", path: "/v1/workflows", summary: "List workflows" },
  {
    call: "getWorkflow",
    method: "get",
    path: "/v1/workflows/{workflowId}",
    summary: "Read a workflow",
  },
  {
    call: "acquireOwnership",
    method: "post",
    path: "/v1/workflows/{workflowId}/owner",
    summary: "Take a running workflow",
  },
  {
    call: "takeCheckpoint",
    method: "post",
    path: "/v1/workflows/{workflowId}/checkpoints",
    summary: "Take a checkpoint",
  },
  {
    call: "listCheckpoints",
    method: "get",
    path: "/v1/workflows/{workflowId}/checkpoints",
    summary: "List checkpoints",
  },
  {
    call: "commitWorkflow",
    method: "post",
    path: "/v1/workflows/{workflowId}/commit",
    summary: "Commit the current revision",
  },
  {
    call: "freeze",
    method: "post",
    path: "/v1/workflows/{workflowId}/freeze",
    summary: "Stop a workflow",
  },
  {
    call: "planRecovery",
    method: "post",
    path: "/v1/workflows/{workflowId}/plan",
    summary: "Show what going back would do",
  },
  {
    call: "applyRecovery",
    method: "post",
    path: "/v1/workflows/{workflowId}/apply",
    summary: "Carry a plan out",
  },
  {
    call: "resumeRecovery",
    method: "post",
    path: "/v1/workflows/{workflowId}/resume",
    summary: "Go on with a recovery",
  },
  {
    call: "replayWorkflow",
    method: "get",
    path: "/v1/workflows/{workflowId}/replay",
    summary: "Tell decisions and facts again",
  },
];

/** Answered as server-sent events, one message an event. */
export const STREAM_ROUTES: readonly Route<StreamName>[] = [
  {
    call: "watchTransactions",
    method: "get",
    path: "/v1/events",
    summary: "Events as they happen",
  },
  {
    call: "getAudit",
    method: "get",
    path: "/v1/transactions/{transactionId}/audit",
    summary: "Audit chain",
  },
  {
    call: "getWorkflowAudit",
    method: "get",
    path: "/v1/workflows/{workflowId}/audit",
    summary: "Audit chains of a workflow's revisions",
  },
  { call: "pullWork", method: "post", path: "/v1/work/pull", summary: "Take work items" },
];

/** Calls that HTTP does not carry: a session is what HTTP/2 streams are for. */
export const NOT_OVER_HTTP: readonly string[] = ["session"];
