// Owns the HTTP routes: one row a call. A test holds the table against the protocol.

import type { agentTxService } from "@agenttx/wire";
import type { UnaryName } from "../service/service.js";

type StreamName = "watchTransactions" | "getAudit" | "pullWork";

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
  { call: "pullWork", method: "post", path: "/v1/work/pull", summary: "Take work items" },
];

/** Calls that HTTP does not carry: a session is what HTTP/2 streams are for. */
export const NOT_OVER_HTTP: readonly string[] = ["session"];
