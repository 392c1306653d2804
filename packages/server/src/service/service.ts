// Owns the one implementation behind all faces: every call by name, with the same admission, error
// translation and measurement, whatever the transport.

import type { AgentTxError } from "@agenttx/model";
import {
  type effects,
  errorToWire,
  type steps,
  type transactions,
  type WireError,
  type work,
  type workflows,
} from "@agenttx/wire";
import { wantsDebug } from "../observe/logger.js";
import { type CallContext, publicError } from "./context.js";
import type { ServiceDeps } from "./deps.js";
import * as operations from "./operations.js";
import { RemoteSteps } from "./remote-steps.js";
import * as calls from "./transactions.js";
import { completeWork } from "./work.js";
import * as flows from "./workflows.js";

type Handler<Request, Response> = (context: CallContext, request: Request) => Promise<Response>;

/** Request and response of every unary call, by its name in the service definition. */
interface Messages {
  beginTransaction: [transactions.BeginTransactionRequest, transactions.BeginTransactionResponse];
  executeStep: [steps.ExecuteStepRequest, steps.ExecuteStepResponse];
  commitTransaction: [
    transactions.CommitTransactionRequest,
    transactions.CommitTransactionResponse,
  ];
  rollbackTransaction: [
    transactions.RollbackTransactionRequest,
    transactions.RollbackTransactionResponse,
  ];
  getTransaction: [transactions.GetTransactionRequest, transactions.GetTransactionResponse];
  reportFailure: [steps.ReportFailureRequest, steps.ReportFailureResponse];
  listTransactions: [transactions.ListTransactionsRequest, transactions.ListTransactionsResponse];
  prepareStep: [steps.PrepareStepRequest, steps.PrepareStepResponse];
  registerUndo: [steps.RegisterUndoRequest, steps.RegisterUndoResponse];
  completeStep: [steps.CompleteStepRequest, steps.CompleteStepResponse];
  completeWork: [work.CompleteWorkRequest, work.CompleteWorkResponse];
  listEffects: [effects.ListEffectsRequest, effects.ListEffectsResponse];
  listReconciliation: [effects.ListReconciliationRequest, effects.ListReconciliationResponse];
  resolveEffect: [effects.ResolveEffectRequest, effects.ResolveEffectResponse];
  startWorkflow: [workflows.StartWorkflowRequest, workflows.StartWorkflowResponse];
  acquireOwnership: [workflows.AcquireOwnershipRequest, workflows.AcquireOwnershipResponse];
  getWorkflow: [workflows.GetWorkflowRequest, workflows.GetWorkflowResponse];
  listWorkflows: [workflows.ListWorkflowsRequest, workflows.ListWorkflowsResponse];
  takeCheckpoint: [workflows.TakeCheckpointRequest, workflows.TakeCheckpointResponse];
  listCheckpoints: [workflows.ListCheckpointsRequest, workflows.ListCheckpointsResponse];
  commitWorkflow: [workflows.CommitWorkflowRequest, workflows.CommitWorkflowResponse];
  freeze: [workflows.FreezeRequest, workflows.FreezeResponse];
  planRecovery: [workflows.PlanRecoveryRequest, workflows.PlanRecoveryResponse];
  applyRecovery: [workflows.ApplyRecoveryRequest, workflows.ApplyRecoveryResponse];
  resumeRecovery: [workflows.ResumeRecoveryRequest, workflows.ResumeRecoveryResponse];
  replayWorkflow: [workflows.ReplayWorkflowRequest, workflows.ReplayWorkflowResponse];
}

export type UnaryName = keyof Messages;
export type RequestOf<Name extends UnaryName> = Messages[Name][0];
export type ResponseOf<Name extends UnaryName> = Messages[Name][1];
type UnaryCalls = { [Name in UnaryName]: Handler<RequestOf<Name>, ResponseOf<Name>> };

/** Every unary call of the service. */
export const UNARY_NAMES: readonly UnaryName[] = [
  "beginTransaction",
  "executeStep",
  "commitTransaction",
  "rollbackTransaction",
  "getTransaction",
  "reportFailure",
  "listTransactions",
  "prepareStep",
  "registerUndo",
  "completeStep",
  "completeWork",
  "listEffects",
  "listReconciliation",
  "resolveEffect",
  "startWorkflow",
  "acquireOwnership",
  "getWorkflow",
  "listWorkflows",
  "takeCheckpoint",
  "listCheckpoints",
  "commitWorkflow",
  "freeze",
  "planRecovery",
  "applyRecovery",
  "resumeRecovery",
  "replayWorkflow",
];

function makeCalls(deps: ServiceDeps, remote: RemoteSteps): UnaryCalls {
  const bind =
    <Request, Response>(
      call: (deps: ServiceDeps, context: CallContext, request: Request) => Promise<Response>,
    ): Handler<Request, Response> =>
    (context, request) =>
      call(deps, context, request);
  return {
    beginTransaction: bind(calls.begin),
    executeStep: bind(calls.step),
    commitTransaction: bind(calls.commit),
    rollbackTransaction: bind(calls.rollback),
    getTransaction: bind(calls.get),
    reportFailure: bind(calls.reportFailure),
    listTransactions: bind(operations.listTransactions),
    prepareStep: remote.prepare.bind(remote),
    registerUndo: remote.registerUndo.bind(remote),
    completeStep: remote.complete.bind(remote),
    completeWork: bind(completeWork),
    listEffects: bind(operations.listEffects),
    listReconciliation: bind(operations.listReconciliation),
    resolveEffect: bind(operations.resolveEffect),
    startWorkflow: bind(flows.startWorkflow),
    acquireOwnership: bind(flows.acquireOwnership),
    getWorkflow: bind(flows.getWorkflow),
    listWorkflows: bind(flows.listWorkflows),
    takeCheckpoint: bind(flows.takeCheckpoint),
    listCheckpoints: bind(flows.listCheckpoints),
    commitWorkflow: bind(flows.commitWorkflow),
    freeze: bind(flows.freeze),
    planRecovery: bind(flows.planRecovery),
    applyRecovery: bind(flows.applyRecovery),
    resumeRecovery: bind(flows.resumeRecovery),
    replayWorkflow: bind(flows.replayWorkflow),
  };
}

export class Service {
  readonly deps: ServiceDeps;
  readonly remoteSteps: RemoteSteps;
  readonly #calls: UnaryCalls;
  #running = 0;

  constructor(deps: ServiceDeps) {
    this.deps = deps;
    this.remoteSteps = new RemoteSteps(deps);
    this.#calls = makeCalls(deps, this.remoteSteps);
  }

  /** Calls under way, whatever the face. */
  get running(): number {
    return this.#running;
  }

  /** Throws AgentTxError only; what is not for callers is logged and becomes INTERNAL. */
  async call<Name extends UnaryName>(
    name: Name,
    context: CallContext,
    request: RequestOf<Name>,
  ): Promise<ResponseOf<Name>> {
    const { metrics, tenants } = this.deps;
    const beganAt = performance.now();
    let code = "OK";
    this.#running += 1;
    try {
      tenants.request(context.principal.tenant);
      // The table's entry takes exactly the request of its name; the compiler cannot follow a
      // generic index into a union of functions.
      const handler = this.#calls[name] as Handler<RequestOf<Name>, ResponseOf<Name>>;
      return await handler(context, request);
    } catch (error) {
      const shown = this.publicError(error, name, request);
      code = shown.code;
      this.#logRefusal(shown, name, context, request);
      throw shown;
    } finally {
      this.#running -= 1;
      metrics.called(context.face, name, code, performance.now() - beganAt);
    }
  }

  publicError(error: unknown, method: string, request?: unknown): AgentTxError {
    return publicError(error, (cause) => {
      this.deps.log.error({ err: cause, method, ...idsOf(request) }, "a call failed inside");
    });
  }

  wireError(error: unknown, method: string): WireError {
    return errorToWire(this.publicError(error, method));
  }

  #logRefusal(error: AgentTxError, method: string, context: CallContext, request: unknown): void {
    const { log } = this.deps;
    if (!wantsDebug(log)) return;
    const { principal, face } = context;
    const { name: caller, tenant } = principal;
    log.debug({ code: error.code, method, face, caller, tenant, ...idsOf(request) }, "refused");
  }
}

/** Ids for the log; nothing else of a request goes there. */
function idsOf(request: unknown): {
  readonly transaction?: string;
  readonly workflow?: string;
  readonly requestId?: string;
} {
  if (typeof request !== "object" || request === null) return {};
  const { transactionId, workflowId, requestId } = request as Readonly<Record<string, unknown>>;
  return {
    ...(typeof workflowId === "string" ? { workflow: workflowId.slice(0, 128) } : {}),
    ...(typeof transactionId === "string" ? { transaction: transactionId.slice(0, 64) } : {}),
    ...(typeof requestId === "string" ? { requestId: requestId.slice(0, 128) } : {}),
  };
}
