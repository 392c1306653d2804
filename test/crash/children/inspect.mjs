// Owns the inspection: recovers, waits until nothing is on its way, and tells all that the store
// holds; then once more after another restart, with the answers to repeated requests.
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isAgentTxError } from "@agenttx/engine";
import { say } from "./say.mjs";

const SPACES = ["saga", "effect", "outbox", "request", "terminal", "late", "meta"];
const QUIET_MS_MAX = 5_000;

export async function inspect(orders, openParts) {
  say({ k: "facts", facts: await restarted(openParts, async () => ({})) });
  const answers = (engine) => askAgain(engine, orders.questions);
  say({ k: "facts", facts: await restarted(openParts, answers) });
}

async function restarted(openParts, more) {
  const { raw, engine } = await openParts();
  try {
    const { problems } = await engine.recover();
    await untilQuiet(raw);
    const facts = { problems, ...(await tellAll(raw, engine)), ...(await more(engine)) };
    return facts;
  } finally {
    await engine.close();
    await raw.close();
  }
}

/** Until no delivery and no retry is due; a person's turn is quiet too. */
async function untilQuiet(store) {
  const until = Date.now() + QUIET_MS_MAX;
  for (;;) {
    const rows = await all(store, "outbox");
    const open = (await all(store, "meta")).filter(({ name }) => name.startsWith("unresolved/"));
    const retried = open.filter(({ value }) => parsed(value).nextAtMs !== null);
    if (rows.length === 0 && retried.length === 0) return;
    if (Date.now() > until) return;
    await sleep(10);
  }
}

async function tellAll(store, engine) {
  const views = [];
  for (let after; ; ) {
    const page = await engine.list({ limit: 500, ...(after === undefined ? {} : { after }) });
    views.push(...page);
    after = page.at(-1)?.id;
    if (page.length < 500) break;
  }
  const transactions = [];
  for (const { id, status, nextStep } of views) {
    const version = status === "COMMITTED" ? await versionOf(engine, id) : null;
    transactions.push({ id, status, nextStep, version, chain: await chainOf(store, id) });
  }
  const state = [];
  for (const { key, value } of await store.scan({ limit: 100_000 })) {
    const { version } = await store.getVersioned(key);
    state.push({
      key: Buffer.from(key).toString(),
      value: Buffer.from(value).toString(),
      version: String(version),
    });
  }
  const records = [];
  const tell = (space, found) => {
    for (const { transaction, step, seq, name, value } of found) {
      const digest = sha256(value).toString("hex").slice(0, 16);
      records.push({ space, transaction, step, seq, name, digest });
    }
  };
  for (const space of SPACES) tell(space, await all(store, space));
  // Outputs are listed one transaction at a time.
  for (const { id } of views) tell("output", await all(store, "output", id));
  const effects = (await all(store, "effect")).map(({ value }) => {
    const { effectId, transaction, tool, state, idempotencyKey, step } = parsed(value);
    return { effectId, transaction, tool, state, idempotencyKey, step };
  });
  const unresolved = (await engine.unresolved({ limit: 10_000 })).map(({ effectId }) => effectId);
  const open = (await store.openTransactions({ limit: 10_000 })).map(({ id }) => id);
  return {
    transactions,
    state,
    records,
    effects,
    unresolved,
    open,
    storeChain: await chainOf(store, null),
  };
}

async function versionOf(engine, id) {
  const { commitVersion } = await (await engine.resume(id)).commit();
  return String(commitVersion);
}

function parsed(value) {
  return JSON.parse(Buffer.from(value).toString());
}

async function all(store, space, transaction = space === "meta" ? "" : null) {
  const found = [];
  for (let after; ; ) {
    const range = { transaction, limit: 1_000 };
    const page = await store.scanRecords(space, after === undefined ? range : { ...range, after });
    found.push(...page);
    after = page.at(-1);
    if (page.length < 1_000) return found;
  }
}

/** Recomputes a chain as docs/formats.md says: { entries, whole }. */
async function chainOf(store, transaction) {
  let hash = sha256(transaction === null ? "store" : encodedName(transaction));
  let entries = 0;
  for (;;) {
    const page = await store.readAudit(transaction, { fromSeq: entries + 1, limit: 1_000 });
    for (const entry of page) {
      entries += 1;
      const seq = Buffer.alloc(8);
      seq.writeBigUInt64BE(BigInt(entries));
      hash = sha256(Buffer.concat([hash, seq, sha256(entry.payload)]));
      if (entry.seq !== entries || !hash.equals(Buffer.from(entry.hash))) {
        return { entries, whole: false };
      }
    }
    if (page.length < 1_000) return { entries, whole: true };
  }
}

function encodedName(id) {
  const bytes = Buffer.from(id);
  return Buffer.concat([Buffer.from([0, bytes.length]), bytes]);
}

function sha256(bytes) {
  return createHash("sha256").update(bytes).digest();
}

/** Sends requests once more that were acknowledged before; nothing may run. */
async function askAgain(engine, questions) {
  const answers = [];
  for (const { rid, tx, tool, args } of questions) {
    answers.push({ rid, answer: await answerOf(engine, { rid, tx, tool, args }) });
  }
  return { answers };
}

async function answerOf(engine, { rid, tx, tool, args }) {
  try {
    if (tool === null) {
      const begun = await engine.begin({ requestId: rid });
      return { kind: "begun", tx: begun.id };
    }
    const outcome = await (await engine.resume(tx)).step(tool, args, { requestId: rid });
    const { status, step, nextStep, output = null, repeated } = outcome;
    return { kind: "answered", status, step, nextStep, output, repeated };
  } catch (error) {
    return { kind: "refused", code: isAgentTxError(error) ? error.code : String(error?.stack) };
  }
}
