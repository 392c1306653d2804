// Owns how a transaction comes into memory: begun, or found on disk. One entry per transaction: a
// second caller gets the same one, and recovery never takes one that is here.
import {
  AgentTxError,
  isAgentTxError,
  limits,
  type RecordWrite,
  type RollbackPolicy,
} from "@agenttx/model";
import { initialCounters, type PolicyOverrides, resolvePolicy } from "@agenttx/policy";
import { AskedRequests } from "./asked-requests.js";
import { encodeAudit } from "./audit.js";
import { beginDigest, beginMarks, repeatedBegin } from "./begin-request.js";
import { GraphLog } from "./graph-log.js";
import { decodeHeader, encodeHeader, type Header, newHeader } from "./header.js";
import { OperationLock } from "./lock.js";
import { makeReady, writesSoFar } from "./settle.js";
import {
  type EngineState,
  fenceOf,
  hasEffects,
  nextHeader,
  type OpenTransaction,
  tell,
  transactionKey,
} from "./state.js";
import { unsettledEffects } from "./step/failure.js";
import { endedOf, readTerminal } from "./terminal.js";

export interface BeginTransaction {
  /** Who acts; at most 256 bytes. Default "". */
  readonly agentId?: string;
  /** At most 64 entries. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Overrides the engine's policy field by field (R8). */
  readonly policy?: PolicyOverrides;
  /** `serializable` validates every point read at commit and refuses scans (S8). */
  readonly isolation?: "read-committed" | "serializable";
  /** Tenant; nothing of another namespace is visible. Default "". */
  readonly namespace?: string;
  /** Repeating a begin with the same id gets the same transaction (P1). 1..128 bytes. */
  readonly requestId?: string;
}

/** Throws INVALID_ARGUMENT, REQUEST_ID_REUSED and store errors; nothing was begun then. */
export async function beginTransaction(
  engine: EngineState,
  options: BeginTransaction,
): Promise<OpenTransaction> {
  if (typeof options !== "object" || options === null) {
    refuse("options", "Options are an object, or left out");
  }
  const { requestId, namespace = "" } = options;
  if (requestId === undefined) return beginNew(engine, options, () => []);
  const digest = beginDigest({ ...options });
  const key = transactionKey(requestId, namespace);
  // A racing begin is waited for, then found like any earlier one. When it failed, one of those that
  // waited is the next to begin, and the others wait for that one.
  for (let running = engine.begins.get(key); running !== undefined; ) {
    await running.catch(() => undefined);
    running = engine.begins.get(key);
  }
  const work = (async () => {
    const known = await repeatedBegin(engine.store, namespace, requestId, digest);
    if (known !== null) return loadTransaction(engine, known, namespace);
    return beginNew(engine, options, (id) => beginMarks(requestId, id, digest));
  })();
  engine.begins.set(key, work);
  try {
    return await work;
  } finally {
    if (engine.begins.get(key) === work) engine.begins.delete(key);
  }
}

async function beginNew(
  engine: EngineState,
  options: BeginTransaction,
  marks: (id: string) => readonly RecordWrite[],
): Promise<OpenTransaction> {
  const { agentId = "", metadata = {}, isolation = "read-committed", namespace = "" } = options;
  requireBegin(agentId, metadata);
  const policy = policyOf(engine.settings.policy, options.policy);
  const id = engine.ids.transactionId();
  const nowMs = engine.clock.now();
  const fields = { agentId, metadata, policy, isolation, counters: initialCounters() };
  const header = newHeader(fields, nowMs);
  // Claimed before it exists on disk, so that recovery running beside us never adopts it.
  return claim(engine, id, namespace, async () => {
    await engine.namespaces.ensure(namespace);
    const tx = await engine.store.begin(id, {
      namespace,
      isolation,
      payload: encodeHeader(header),
      audit: [encodeAudit({ k: "begin", at: nowMs, agentId, policy })],
      records: marks(id),
    });
    const open = { ...entry(engine, id, namespace, tx, header), asked: new AskedRequests() };
    tell(open, "begin", 0, null, { agentId });
    return open;
  });
}

/** Throws INVALID_ARGUMENT for a policy out of range. */
export function policyOf(defaults: RollbackPolicy, overrides: PolicyOverrides | undefined) {
  try {
    return resolvePolicy(defaults, overrides);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "The policy is out of range.";
    throw new AgentTxError("INVALID_ARGUMENT", why, { details: { field: "policy" }, cause });
  }
}

/** Throws INVALID_ARGUMENT for what is too long. */
export function requireBegin(agentId: string, metadata: Readonly<Record<string, string>>): void {
  if (typeof agentId !== "string" || Buffer.byteLength(agentId) > limits.AGENT_ID_BYTES_MAX) {
    refuse("agentId", `An agent id has at most ${limits.AGENT_ID_BYTES_MAX} bytes`);
  }
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) {
    refuse("metadata", "Metadata is an object with texts");
  }
  const entries = Object.entries(metadata);
  if (entries.length > limits.METADATA_ENTRIES_MAX) {
    refuse("metadata", `Metadata has at most ${limits.METADATA_ENTRIES_MAX} entries`);
  }
  if (entries.some(([, value]) => typeof value !== "string")) {
    refuse("metadata", "Metadata values are text");
  }
  // The header holds them, and is written again with every decision (I1 of header.ts).
  const bytes = entries.flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > limits.METADATA_BYTES_MAX) {
    refuse("metadata", `Metadata has at most ${limits.METADATA_BYTES_MAX} bytes in all`);
  }
}

function refuse(field: string, what: string): never {
  throw new AgentTxError("INVALID_ARGUMENT", `${what}; nothing was begun.`, { details: { field } });
}

/** The entry in memory, or the transaction attached from disk and brought to rest. */
export async function loadTransaction(
  engine: EngineState,
  id: string,
  namespace: string,
): Promise<OpenTransaction> {
  const known = engine.open.get(transactionKey(id, namespace));
  if (known !== undefined) return known;
  return claim(engine, id, namespace, () => attach(engine, id, namespace));
}

/** Registers the work under the transaction's key until it is there, or has failed. */
export async function claim(
  engine: EngineState,
  id: string,
  namespace: string,
  work: () => Promise<OpenTransaction>,
): Promise<OpenTransaction> {
  const key = transactionKey(id, namespace);
  const promise = work();
  engine.open.set(key, promise);
  try {
    const open = await promise;
    engine.parked.delete(key);
    if (open.ended === null) engine.open.set(key, open);
    else engine.open.delete(key);
    return open;
  } catch (error) {
    engine.open.delete(key);
    throw error;
  }
}

async function attach(
  engine: EngineState,
  id: string,
  namespace: string,
): Promise<OpenTransaction> {
  try {
    const open = await attachOpen(engine, id, namespace);
    await engine.store.claim(id, { namespace, takeOver: true });
    // Its workflow's recovery has the word: nothing is taken up, nothing is written.
    if (open.header.held !== true) await resumeFromDisk(open);
    return open;
  } catch (error) {
    if (!isAgentTxError(error) || error.code !== "NOT_FOUND") throw error;
  }
  return attachEnded(engine, id, namespace);
}

/** Attaches without changing anything. Throws NOT_FOUND when it is not open on disk. */
export async function attachOpen(
  engine: EngineState,
  id: string,
  namespace: string,
): Promise<OpenTransaction> {
  const tx = await engine.store.attach(id, { namespace });
  const stored = tx.header();
  const open = entry(engine, id, namespace, tx, decodeHeader(id, stored.payload));
  open.writesSoFar = await writesSoFar(open);
  return open;
}

/**
 * Takes up a transaction that another process left: the shutdown mark goes, so that a crash from
 * here on counts as one; an interrupted rollback is continued; an interrupted step is undone.
 */
export async function resumeFromDisk(open: OpenTransaction): Promise<void> {
  const interrupted = hasEffects(open.header) && (await markInterrupted(open));
  const { header, payload } = nextHeader(open, { cleanShutdown: false });
  const entryBytes = encodeAudit({ k: "resumed", at: header.updatedAtMs, s: open.nextStep });
  await open.tx.apply({ fence: fenceOf(open), payload, audit: [entryBytes] });
  open.header = header;
  if (interrupted && header.status === "ACTIVE") open.undoFrom = open.nextStep;
  await makeReady(open);
}

/** True when the step that a crash interrupted has left something that must be undone. */
async function markInterrupted(open: OpenTransaction): Promise<boolean> {
  const { effects } = open.engine;
  await effects.markIndeterminate(open.id, open.namespace);
  const all = await effects.listEffects(open.id, open.namespace);
  const done = ["compensated", "absent", "failed", "resolved", "dropped"];
  return (
    all.some(({ step, state }) => step >= open.nextStep && !done.includes(state)) ||
    (await unsettledEffects(open)).length > 0
  );
}

async function attachEnded(
  engine: EngineState,
  id: string,
  namespace: string,
): Promise<OpenTransaction> {
  const record = await readTerminal(engine.store, id, namespace);
  if (record === null) {
    throw new AgentTxError(
      "NOT_FOUND",
      "There is no such transaction: it never existed, or its record has expired.",
      { details: { transaction: id } },
    );
  }
  const fields = {
    agentId: record.agentId,
    metadata: record.metadata,
    policy: engine.settings.policy,
    isolation: "read-committed" as const,
    counters: { ...initialCounters(), resets: record.globalResets },
  };
  const header = { ...newHeader(fields, record.beganAtMs), constraints: record.constraints };
  const open = entry(engine, id, namespace, null, header);
  open.ended = endedOf(record);
  return open;
}

/** What memory holds of a transaction; `tx` null = it has ended. */
export function entry(
  engine: EngineState,
  id: string,
  namespace: string,
  tx: OpenTransaction["tx"] | null,
  header: Header,
): OpenTransaction {
  const stored = tx?.header();
  return {
    engine,
    id,
    namespace,
    lock: new OperationLock(),
    graph: new GraphLog(engine.store, id, namespace),
    asked: null,
    // An ended transaction has no handle, and every path checks `ended` before it uses one.
    tx: tx as OpenTransaction["tx"],
    incarnation: engine.store.incarnation,
    header,
    owner: stored?.owner ?? 0n,
    attempt: stored?.attempt ?? 0,
    nextStep: stored?.step ?? 0,
    writesSoFar: 0,
    undoFrom: null,
    receipt: null,
    outcomeUnknown: false,
    ended: null,
    fenced: false,
    lastActiveMs: engine.clock.monotonic(),
  };
}
