// Owns reading workflow records and making a change of one durable, with its reason (C1, C3, C9).
//
//   I1 A change is one batch through the current revision's transaction: record, list, audit, fence.
//      Storage refuses it when the fencing token it starts from is not the newest (STALE_OWNER).
//   I2 When that transaction has ended there is no header to compare with; the record is read again
//      right before, and the workflow's turn in this process is held.

import type { RevisionName } from "@agenttx/engine";
import {
  AgentTxError,
  type RecordEntry,
  type RecordWrite,
  type WorkflowState,
  type Write,
} from "@agenttx/model";
import type { RecoveryCore } from "./core.js";
import { type WorkflowEvent, workflowAudit } from "./workflow-audit.js";
import {
  currentRevision,
  decodeWorkflow,
  type RevisionEntry,
  WORK_PREFIX,
  WORKFLOW_PREFIX,
  type WorkflowRecord,
  workflowWrites,
} from "./workflow-record.js";

const PAGE = 1_000;

/** Throws NOT_FOUND, STORE_CORRUPT, FORMAT_TOO_NEW. */
export async function readWorkflow(
  core: RecoveryCore,
  workflow: string,
  namespace: string,
): Promise<WorkflowRecord> {
  const name = `${WORKFLOW_PREFIX}${workflow}`;
  const bytes = await core.store.readRecord("", { space: "meta", name, namespace });
  if (bytes !== null) return decodeWorkflow(bytes);
  throw new AgentTxError("NOT_FOUND", `There is no workflow ${workflow}; nothing was changed.`, {
    details: { workflow },
  });
}

export function nameOf(
  record: Pick<WorkflowRecord, "namespace">,
  { transaction }: Pick<RevisionEntry, "transaction">,
): RevisionName {
  return { transaction, namespace: record.namespace };
}

export interface SaveOptions {
  readonly event: WorkflowEvent;
  /** See Revisions.change. */
  readonly hold?: boolean;
  readonly records?: readonly RecordWrite[];
  readonly writes?: readonly Write[];
  /** Another transaction than the current revision's: the one that is about to be it. */
  readonly through?: RevisionName;
}

/** Makes `after` durable in the place of `before`. Throws STALE_OWNER; nothing was changed then. */
export async function saveWorkflow(
  core: RecoveryCore,
  before: WorkflowRecord,
  after: WorkflowRecord,
  options: SaveOptions,
): Promise<WorkflowRecord> {
  const { revisions, store } = core;
  const name = options.through ?? nameOf(before, currentRevision(before));
  const { audit, storeAudit } = workflowAudit(core.clock.now(), after, name, options.event);
  const records = [...workflowWrites(after), ...(options.records ?? [])];
  const batch = { records, audit: [audit], storeAudit: [storeAudit] };
  const owner = before.recovery.fencingToken;
  const nextOwner = after.recovery.fencingToken;
  const { hold, writes } = options;
  const changed = await revisions.change(
    name,
    {
      owner,
      ...(nextOwner > owner ? { nextOwner } : {}),
      ...(hold === undefined ? {} : { hold }),
    },
    { ...batch, ...(writes === undefined ? {} : { writes }) },
  );
  if (changed) return after;
  await requireUnchanged(core, before);
  await store.writeRecords(name.transaction, { ...batch, namespace: name.namespace });
  return after;
}

/** I2. */
async function requireUnchanged(core: RecoveryCore, before: WorkflowRecord): Promise<void> {
  const now = await readWorkflow(core, before.workflow, before.namespace);
  if (now.recovery.fencingToken === before.recovery.fencingToken) return;
  throw staleOwner(before.workflow, before.recovery.fencingToken, now.recovery.fencingToken);
}

export function staleOwner(workflow: string, given: bigint, expected: bigint): AgentTxError {
  return new AgentTxError(
    "STALE_OWNER",
    `Workflow ${workflow} has fencing token ${expected}, this call carries ${given}; nothing was changed. Acquire the workflow, or leave it to its owner.`,
    { details: { workflow, given: `${given}`, expected: `${expected}` } },
  );
}

/**
 * Workflows in the order of their ids, after `after`; with `states` those that are in one of them.
 * Without Running among those, only the workflows at work are read.
 */
export async function listWorkflows(
  core: RecoveryCore,
  page: {
    readonly namespace: string;
    readonly after?: string;
    readonly limit: number;
    readonly states?: readonly WorkflowState[];
  },
): Promise<WorkflowRecord[]> {
  const { states, limit } = page;
  const found: WorkflowRecord[] = [];
  const all = states === undefined || states.includes("Running");
  for await (const record of all ? everyWorkflow(core, page) : recordsAtWork(core, page)) {
    if (states?.includes(record.recovery.state) === false) continue;
    found.push(record);
    if (found.length >= limit) break;
  }
  return found;
}

interface From {
  readonly namespace: string;
  readonly after?: string;
}

async function* everyWorkflow(core: RecoveryCore, from: From): AsyncGenerator<WorkflowRecord> {
  for await (const { value } of metaAfter(core, WORKFLOW_PREFIX, from)) yield decodeWorkflow(value);
}

async function* recordsAtWork(core: RecoveryCore, from: From): AsyncGenerator<WorkflowRecord> {
  for await (const workflow of workflowsAtWork(core, from)) {
    yield await readWorkflow(core, workflow, from.namespace);
  }
}

/** Ids of workflows that a start must look at (J2), in their order, after `after`. */
export async function* workflowsAtWork(
  core: RecoveryCore,
  from: From,
): AsyncGenerator<string, void, undefined> {
  for await (const { name } of metaAfter(core, WORK_PREFIX, from)) {
    yield name.slice(WORK_PREFIX.length);
  }
}

/** Records of space `meta` whose name begins with `prefix`, page by page. */
export async function* metaAfter(
  core: Pick<RecoveryCore, "store">,
  prefix: string,
  page: { readonly namespace: string; readonly after?: string; readonly pageSize?: number },
): AsyncGenerator<RecordEntry, void, undefined> {
  const name = `${prefix}${page.after ?? ""}`;
  let after: RecordEntry = { transaction: "", step: 0, seq: 0, name, value: new Uint8Array() };
  for (;;) {
    const { namespace, pageSize: limit = PAGE } = page;
    const range = { transaction: null, namespace, after, limit };
    const entries = await core.store.scanRecords("meta", range);
    for (const entry of entries) {
      if (!entry.name.startsWith(prefix)) return;
      yield entry;
    }
    const last = entries.at(-1);
    if (last === undefined) return;
    after = last;
  }
}
