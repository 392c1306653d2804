// Owns the two calls of workers: pull and complete.

import { AgentTxError, limits } from "@agenttx/model";
import type { work } from "@agenttx/wire";
import { requireScope, requireTool } from "../auth/principal.js";
import { requireStatus } from "../work/work-answers.js";
import type { WorkerSlot, WorkItem } from "../work/work-queue.js";
import type { CallContext } from "./context.js";
import type { ServiceDeps } from "./deps.js";

const TOOLS_MAX = 1_000;
/** Items with one worker at a time: each may carry a megabyte of arguments. */
const IN_FLIGHT_MAX = 64;

/** Checks a PullWork request; throws before anything is connected. */
export function readWorker(
  context: CallContext,
  request: work.PullWorkRequest,
  give: (message: work.PullWorkResponse) => void,
): WorkerSlot {
  requireScope(context.principal, "operate");
  const { toolNames, workerId, inFlightMax } = request;
  if (toolNames.length === 0 || toolNames.length > TOOLS_MAX) {
    throw refused(`\`tool_names\` has 1 to ${TOOLS_MAX} names`, "tool_names");
  }
  if (workerId === "" || Buffer.byteLength(workerId) > limits.REQUEST_ID_BYTES_MAX) {
    throw refused("`worker_id` is missing or too long", "worker_id");
  }
  for (const name of toolNames) requireTool(context.principal, name);
  return {
    tenant: context.principal.tenant,
    workerId,
    tools: new Set(toolNames),
    inFlightMax: Math.min(inFlightMax === 0 ? 8 : inFlightMax, IN_FLIGHT_MAX),
    give: (item) => give(toMessage(item)),
  };
}

export async function completeWork(
  deps: ServiceDeps,
  context: CallContext,
  request: work.CompleteWorkRequest,
): Promise<work.CompleteWorkResponse> {
  requireScope(context.principal, "operate");
  const { workId, workerId, status, outputJson, message } = request;
  const { tenant } = context.principal;
  const item = deps.work.held(tenant, workerId, workId);
  if (item === null) return { accepted: false };
  requireTool(context.principal, item.tool);
  requireStatus(item.kind, status);
  if (outputJson !== "") requireJson(outputJson);
  const accepted = deps.work.complete(tenant, workerId, workId, {
    status,
    outputJson,
    message,
  });
  return { accepted };
}

function toMessage(item: WorkItem): work.PullWorkResponse {
  return {
    workId: item.workId,
    kind: item.kind,
    toolName: item.tool,
    toolVersion: item.toolVersion,
    transactionId: item.transaction,
    stepId: item.step,
    effectId: item.effectId,
    idempotencyKey: item.idempotencyKey,
    undoKey: item.undoKey,
    argumentsJson: item.argumentsJson,
    outputJson: item.outputJson,
    action: item.action,
    deadlineMs: item.deadlineMs,
  };
}

function requireJson(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw refused("`output_json` is not JSON", "output_json");
  }
}

function refused(what: string, field: string): AgentTxError {
  return new AgentTxError("INVALID_ARGUMENT", `${what}; nothing was changed.`, {
    details: { field },
  });
}
