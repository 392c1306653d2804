// Owns the service definition that servers and clients register: the generated one, with messages
// encoded by the reused writer.

import type { MethodDefinition } from "@grpc/grpc-js";
import { AgentTxServiceService } from "./gen/agenttx/v1/agenttx.js";
import * as effects from "./gen/agenttx/v1/effects.js";
import * as session from "./gen/agenttx/v1/session.js";
import * as steps from "./gen/agenttx/v1/steps.js";
import * as transactions from "./gen/agenttx/v1/transactions.js";
import * as work from "./gen/agenttx/v1/work.js";
import * as workflows from "./gen/agenttx/v1/workflows.js";
import { encodeMessage, type MessageCodec } from "./message-writer.js";

function method<Name extends keyof typeof AgentTxServiceService, Request, Response>(
  name: Name,
  request: MessageCodec<Request>,
  response: MessageCodec<Response>,
): MethodDefinition<Request, Response> {
  const { path, requestStream, responseStream } = AgentTxServiceService[name];
  return {
    path,
    requestStream,
    responseStream,
    requestSerialize: (value) => encodeMessage(request, value),
    requestDeserialize: (bytes) => request.decode(bytes),
    responseSerialize: (value) => encodeMessage(response, value),
    responseDeserialize: (bytes) => response.decode(bytes),
  };
}

/** Every call of `agenttx.v1.AgentTxService`. */
export const agentTxService = {
  beginTransaction: method(
    "beginTransaction",
    transactions.BeginTransactionRequest,
    transactions.BeginTransactionResponse,
  ),
  executeStep: method("executeStep", steps.ExecuteStepRequest, steps.ExecuteStepResponse),
  commitTransaction: method(
    "commitTransaction",
    transactions.CommitTransactionRequest,
    transactions.CommitTransactionResponse,
  ),
  rollbackTransaction: method(
    "rollbackTransaction",
    transactions.RollbackTransactionRequest,
    transactions.RollbackTransactionResponse,
  ),
  getTransaction: method(
    "getTransaction",
    transactions.GetTransactionRequest,
    transactions.GetTransactionResponse,
  ),
  session: method("session", session.SessionRequest, session.SessionResponse),
  reportFailure: method("reportFailure", steps.ReportFailureRequest, steps.ReportFailureResponse),
  listTransactions: method(
    "listTransactions",
    transactions.ListTransactionsRequest,
    transactions.ListTransactionsResponse,
  ),
  watchTransactions: method(
    "watchTransactions",
    transactions.WatchTransactionsRequest,
    transactions.WatchTransactionsResponse,
  ),
  prepareStep: method("prepareStep", steps.PrepareStepRequest, steps.PrepareStepResponse),
  registerUndo: method("registerUndo", steps.RegisterUndoRequest, steps.RegisterUndoResponse),
  completeStep: method("completeStep", steps.CompleteStepRequest, steps.CompleteStepResponse),
  pullWork: method("pullWork", work.PullWorkRequest, work.PullWorkResponse),
  completeWork: method("completeWork", work.CompleteWorkRequest, work.CompleteWorkResponse),
  listEffects: method("listEffects", effects.ListEffectsRequest, effects.ListEffectsResponse),
  listReconciliation: method(
    "listReconciliation",
    effects.ListReconciliationRequest,
    effects.ListReconciliationResponse,
  ),
  resolveEffect: method(
    "resolveEffect",
    effects.ResolveEffectRequest,
    effects.ResolveEffectResponse,
  ),
  getAudit: method("getAudit", effects.GetAuditRequest, effects.GetAuditResponse),
  startWorkflow: method(
    "startWorkflow",
    workflows.StartWorkflowRequest,
    workflows.StartWorkflowResponse,
  ),
  acquireOwnership: method(
    "acquireOwnership",
    workflows.AcquireOwnershipRequest,
    workflows.AcquireOwnershipResponse,
  ),
  getWorkflow: method("getWorkflow", workflows.GetWorkflowRequest, workflows.GetWorkflowResponse),
  listWorkflows: method(
    "listWorkflows",
    workflows.ListWorkflowsRequest,
    workflows.ListWorkflowsResponse,
  ),
  takeCheckpoint: method(
    "takeCheckpoint",
    workflows.TakeCheckpointRequest,
    workflows.TakeCheckpointResponse,
  ),
  listCheckpoints: method(
    "listCheckpoints",
    workflows.ListCheckpointsRequest,
    workflows.ListCheckpointsResponse,
  ),
  commitWorkflow: method(
    "commitWorkflow",
    workflows.CommitWorkflowRequest,
    workflows.CommitWorkflowResponse,
  ),
  freeze: method("freeze", workflows.FreezeRequest, workflows.FreezeResponse),
  planRecovery: method(
    "planRecovery",
    workflows.PlanRecoveryRequest,
    workflows.PlanRecoveryResponse,
  ),
  applyRecovery: method(
    "applyRecovery",
    workflows.ApplyRecoveryRequest,
    workflows.ApplyRecoveryResponse,
  ),
  resumeRecovery: method(
    "resumeRecovery",
    workflows.ResumeRecoveryRequest,
    workflows.ResumeRecoveryResponse,
  ),
  getWorkflowAudit: method(
    "getWorkflowAudit",
    workflows.GetWorkflowAuditRequest,
    workflows.GetWorkflowAuditResponse,
  ),
  replayWorkflow: method(
    "replayWorkflow",
    workflows.ReplayWorkflowRequest,
    workflows.ReplayWorkflowResponse,
  ),
} satisfies Record<keyof typeof AgentTxServiceService, unknown>;
