// Owns the table of calls: one row each, with what it needs, a good request, and what a stranger gets.
// The tests of tokens, tenants, sizes, rates and hostile input walk it; a call that the protocol has
// and the table lacks fails them (auth.test.ts).

import type { CallName } from "./raw-calls.js";

export interface Ids {
  readonly transactionId: string;
  readonly effectId: string;
}

export interface Row {
  readonly scope: "run" | "operate" | "read";
  readonly request: (ids: Ids) => object;
  /** What a caller of another tenant gets for these ids. */
  readonly foreign: "NOT_FOUND" | ((answer: never) => boolean);
  /** True when the request names a tool. */
  readonly tool?: true;
  /** True for a stream that ends only when its token does. */
  readonly staysOpen?: true;
}

/** Started by both tenants, and one that only the owner has. */
export const FLOW = "flow-both";
export const OWN_FLOW = { workflowId: "flow-own" };

const nothing = { requestId: "", rawContext: "", fencingToken: 0n };
export const step = (ids: Ids, toolName = "customers.search") => ({
  ...nothing,
  transactionId: ids.transactionId,
  stepId: 2,
  toolName,
  argumentsJson: '{"by":"name"}',
});

/** One row a call. Requests are good ones of the tenant that owns the ids. */
export const ROWS: Readonly<Record<CallName, Row>> = {
  beginTransaction: {
    scope: "run",
    request: () => ({ agentId: "a", metadata: {}, requestId: "", isolation: "" }),
    foreign: (answer: { transactionId: string }) => answer.transactionId !== "",
  },
  executeStep: { scope: "run", request: step, foreign: "NOT_FOUND", tool: true },
  commitTransaction: {
    scope: "run",
    request: ({ transactionId }) => ({ transactionId, requestId: "", fencingToken: 0n }),
    foreign: "NOT_FOUND",
  },
  rollbackTransaction: {
    scope: "run",
    request: ({ transactionId }) => ({
      transactionId,
      toStep: 2,
      reason: "",
      requestId: "",
      fencingToken: 0n,
    }),
    foreign: "NOT_FOUND",
  },
  getTransaction: {
    scope: "read",
    request: ({ transactionId }) => ({ transactionId, contextPageToken: "" }),
    foreign: "NOT_FOUND",
  },
  session: {
    scope: "run",
    request: (ids) => ({
      correlationId: 1,
      deadlineMs: 0,
      request: { $case: "step", value: step(ids) },
    }),
    foreign: "NOT_FOUND",
    tool: true,
    staysOpen: true,
  },
  reportFailure: {
    scope: "run",
    request: ({ transactionId }) => ({
      transactionId,
      stepId: 1,
      key: "",
      text: "x",
      requestId: "",
      fencingToken: 0n,
    }),
    foreign: "NOT_FOUND",
  },
  listTransactions: {
    scope: "read",
    request: () => ({ statuses: [], pageSize: 0, pageToken: "" }),
    foreign: (answer: { transactions: { agentId: string }[] }) =>
      answer.transactions.every(({ agentId }) => agentId !== "owner"),
  },
  watchTransactions: {
    scope: "read",
    request: ({ transactionId }) => ({ transactionId }),
    foreign: "NOT_FOUND",
    staysOpen: true,
  },
  prepareStep: {
    scope: "run",
    request: (ids) => ({ ...step(ids), effectClass: "read-only" }),
    foreign: "NOT_FOUND",
    tool: true,
  },
  registerUndo: {
    scope: "run",
    request: ({ transactionId }) => ({
      transactionId,
      attempt: 9n,
      action: "a",
      argumentsJson: "{}",
    }),
    foreign: "NOT_FOUND",
  },
  completeStep: {
    scope: "run",
    request: ({ transactionId }) => ({
      transactionId,
      stepId: 2,
      attempt: 9n,
      result: { $case: "outputJson", value: "1" },
      writes: [],
      requestId: "",
    }),
    foreign: "NOT_FOUND",
  },
  pullWork: {
    scope: "operate",
    request: () => ({ toolNames: ["customers.search"], inFlightMax: 0, workerId: "w" }),
    // A worker of another tenant is accepted and given nothing (remote-tools.test.ts).
    foreign: (answer: null) => answer === null,
    tool: true,
    staysOpen: true,
  },
  completeWork: {
    scope: "operate",
    request: () => ({ workId: "x", workerId: "w", status: "undone", outputJson: "", message: "" }),
    foreign: (answer: { accepted: boolean }) => !answer.accepted,
  },
  listEffects: {
    scope: "read",
    request: ({ transactionId }) => ({ transactionId, pageSize: 0, pageToken: "" }),
    foreign: "NOT_FOUND",
  },
  listReconciliation: {
    scope: "read",
    request: () => ({ pageSize: 0, pageToken: "" }),
    foreign: (answer: { effects: unknown[] }) => answer.effects.length === 0,
  },
  resolveEffect: {
    scope: "operate",
    request: ({ effectId }) => ({ effectId, kind: "accepted-as-is", actor: "", note: "n" }),
    foreign: "NOT_FOUND",
  },
  getAudit: {
    scope: "read",
    request: ({ transactionId }) => ({ transactionId, fromSeq: 0n, history: false }),
    foreign: "NOT_FOUND",
  },
  startWorkflow: {
    scope: "run",
    request: () => ({ workflowId: FLOW, name: "", agentId: "", metadata: {}, owner: "" }),
    // Another tenant's workflow may have the same name: it is another one.
    foreign: (answer: { workflow: { transactionId: string; owner: string } }) =>
      answer.workflow.owner !== "owner",
  },
  listWorkflows: {
    scope: "read",
    request: () => ({ pageSize: 0, pageToken: "", states: [] }),
    foreign: (answer: { workflows: { owner: string }[] }) =>
      answer.workflows.every(({ owner }) => owner !== "owner"),
  },
  getWorkflow: { scope: "read", request: () => OWN_FLOW, foreign: "NOT_FOUND" },
  acquireOwnership: {
    scope: "run",
    request: () => ({ ...OWN_FLOW, owner: "thief" }),
    foreign: "NOT_FOUND",
  },
  takeCheckpoint: {
    scope: "run",
    request: () => ({ ...OWN_FLOW, fencingToken: 1n, name: "c" }),
    foreign: "NOT_FOUND",
  },
  listCheckpoints: { scope: "read", request: () => OWN_FLOW, foreign: "NOT_FOUND" },
  commitWorkflow: {
    scope: "run",
    request: () => ({ ...OWN_FLOW, fencingToken: 1n }),
    foreign: "NOT_FOUND",
  },
  freeze: {
    scope: "operate",
    request: () => ({ ...OWN_FLOW, actor: "", reason: "r" }),
    foreign: "NOT_FOUND",
  },
  planRecovery: {
    scope: "read",
    request: () => ({ ...OWN_FLOW, checkpointName: "" }),
    foreign: "NOT_FOUND",
  },
  applyRecovery: {
    scope: "operate",
    request: () => ({
      ...OWN_FLOW,
      checkpoint: { revision: 1, stepId: 0 },
      digest: "d",
      actor: "",
      hold: false,
    }),
    foreign: "NOT_FOUND",
  },
  resumeRecovery: {
    scope: "operate",
    request: () => ({ ...OWN_FLOW, actor: "" }),
    foreign: "NOT_FOUND",
  },
  getWorkflowAudit: {
    scope: "read",
    request: () => ({ ...OWN_FLOW, history: false }),
    foreign: "NOT_FOUND",
  },
  replayWorkflow: { scope: "read", request: () => OWN_FLOW, foreign: "NOT_FOUND" },
};

/** Session messages that carry a transaction id: each is checked as an inner field. */
export const INNER: readonly CallName[] = [
  "executeStep",
  "commitTransaction",
  "rollbackTransaction",
  "getTransaction",
  "reportFailure",
  "prepareStep",
  "completeStep",
  "registerUndo",
];
export const CASES: Readonly<Record<string, string>> = {
  executeStep: "step",
  commitTransaction: "commit",
  rollbackTransaction: "rollback",
  getTransaction: "get",
  prepareStep: "prepare",
  completeStep: "complete",
};
