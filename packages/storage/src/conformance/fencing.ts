// Owns the claims about fences: old owner, old attempt, wrong step, stale handle (E6).

import type { BatchExtras, Fence, Store, StoreTransaction } from "../contract.js";
import type { Claims } from "./harness.js";
import { bytes, fingerprint, refusal, text } from "./harness.js";

/** A transaction at owner 2, attempt 5, step 3. */
async function advanced(store: Store): Promise<StoreTransaction> {
  const tx = await store.begin("t");
  await tx.apply({
    writes: [{ key: "k", value: bytes("v") }],
    next: { owner: 2n, attempt: 5, step: 3 },
    snapshot: 2,
  });
  return tx;
}

const RIGHT: Fence = { owner: 2n, attempt: 5, step: 3 };

function full(fence: Fence): BatchExtras {
  return {
    fence,
    next: { owner: 9n, attempt: 9, step: 9 },
    payload: bytes("p"),
    records: [{ space: "effect", seq: 1, value: bytes("e") }],
    audit: [bytes("a")],
    storeAudit: [bytes("s")],
    evidence: bytes(`late: ${fence.owner} ${fence.attempt} ${fence.step}`),
  };
}

/** Refused, and nothing but the evidence row is new. */
async function refusedOnlyWithEvidence(
  { store, expect }: Parameters<Claims[string]>[0],
  fence: Fence,
  code: string,
): Promise<void> {
  const tx = await advanced(store);
  const before = await fingerprint(store, tx);
  const calls = [
    () => tx.apply({ ...full(fence), writes: [{ key: "x", value: bytes("x") }], snapshot: 3 }),
    () => tx.restoreSnapshot(1, full(fence)),
    () => tx.commit(full(fence)),
    () => tx.discard(full(fence)),
  ];
  for (const [index, call] of calls.entries()) {
    expect(await refusal(call)).toBe(code);
    const late = await store.scanRecords("late", { transaction: "t" });
    expect(late.length).toBe(index + 1);
    const evidence = `late: ${fence.owner} ${fence.attempt} ${fence.step}`;
    expect(text(late.at(-1)?.value ?? null)).toBe(evidence);
  }
  expect(await fingerprint(store, tx)).toBe(before);
  expect(await store.readAudit(null)).toEqual([]);
  expect(await store.scan()).toEqual([]);
}

export const fencingClaims: Claims = {
  "begins with owner 1, attempt 0, step 1, snapshot 1": async ({ store, expect }) => {
    const { owner, attempt, step, snapshot, incarnation, payload } = (
      await store.begin("t", { payload: bytes("p") })
    ).header();
    expect([owner, attempt, step, snapshot, text(payload)]).toEqual([1n, 0, 1, 1, "p"]);
    expect(incarnation).toBe(store.incarnation);
  },
  "takes a batch whose fence equals the header": async ({ store, expect }) => {
    const tx = await advanced(store);
    await tx.apply({ fence: RIGHT, writes: [{ key: "k", value: bytes("w") }] });
    expect(text(await tx.get("k"))).toBe("w");
  },
  "takes a batch without a fence": async ({ store, expect }) => {
    const tx = await advanced(store);
    await tx.put("k", bytes("w"));
    expect(text(await tx.get("k"))).toBe("w");
  },
  "refuses an old owner everywhere and keeps its evidence, nothing else": (world) =>
    refusedOnlyWithEvidence(world, { ...RIGHT, owner: 1n }, "STALE_OWNER"),
  "refuses an old attempt everywhere and keeps its evidence, nothing else": (world) =>
    refusedOnlyWithEvidence(world, { ...RIGHT, attempt: 4 }, "STALE_ATTEMPT"),
  "refuses a wrong step everywhere and keeps its evidence, nothing else": (world) =>
    refusedOnlyWithEvidence(world, { ...RIGHT, step: 2 }, "STEP_OUT_OF_ORDER"),
  "names the owner first when several numbers are old": async ({ store, expect }) => {
    const tx = await advanced(store);
    const fence = (owner: bigint, attempt: number, step: number) => () =>
      tx.apply({ fence: { owner, attempt, step } });
    expect(await refusal(fence(1n, 1, 1))).toBe("STALE_OWNER");
    expect(await refusal(fence(2n, 1, 1))).toBe("STALE_ATTEMPT");
  },
  "keeps no row when the refused batch brought no evidence": async ({ store, expect }) => {
    const tx = await advanced(store);
    const call = () => tx.apply({ fence: { ...RIGHT, owner: 1n } });
    expect(await refusal(call)).toBe("STALE_OWNER");
    expect(await store.scanRecords("late", { transaction: "t" })).toEqual([]);
  },
  "keeps no evidence of a batch that went through": async ({ store, expect }) => {
    const tx = await advanced(store);
    await tx.apply({ fence: RIGHT, evidence: bytes("not late") });
    expect(await store.scanRecords("late", { transaction: "t" })).toEqual([]);
  },
  "numbers late evidence from 1 and keeps it after the end and a restart": async (world) => {
    const { store, expect, restart } = world;
    const tx = await advanced(store);
    const late = (word: string) => () =>
      tx.apply({ fence: { ...RIGHT, attempt: 1 }, evidence: bytes(word) });
    for (const word of ["one", "two"]) expect(await refusal(late(word))).toBe("STALE_ATTEMPT");
    await tx.discard();
    const rows = await (await restart()).scanRecords("late", { transaction: "t" });
    expect(rows.map(({ seq, value }) => [seq, text(value)])).toEqual([
      [1, "one"],
      [2, "two"],
    ]);
  },
  "raises the attempt at once and fences the one before": async ({ store, expect }) => {
    const tx = await advanced(store);
    expect(tx.beginAttempt()).toBe(6);
    expect(tx.header().attempt).toBe(6);
    expect(await refusal(() => tx.apply({ fence: RIGHT }))).toBe("STALE_ATTEMPT");
    await tx.apply({ fence: { ...RIGHT, attempt: 6 } });
  },
  "makes a raised attempt durable with the next batch": async ({ store, expect, restart }) => {
    const tx = await store.begin("t");
    tx.beginAttempt();
    tx.beginAttempt();
    await tx.put("k", bytes("v"));
    tx.beginAttempt();
    const again = await (await restart()).attach("t");
    expect(again.header().attempt).toBe(2);
  },
  "refuses to shrink the attempt": async ({ store, expect }) => {
    const tx = await advanced(store);
    expect(await refusal(() => tx.apply({ next: { attempt: 4 } }))).toBe("INVALID_ARGUMENT");
    expect(tx.header().attempt).toBe(5);
  },
  "fences two handles of one transaction by the same header": async ({ store, expect }) => {
    const slow = await store.begin("t");
    const taker = await store.attach("t");
    await taker.apply({ next: { owner: 2n } });
    const late = () => slow.apply({ fence: { owner: 1n, attempt: 0, step: 1 } });
    expect(await refusal(late)).toBe("STALE_OWNER");
    await taker.apply({ fence: { owner: 2n, attempt: 0, step: 1 } });
  },
  "keeps owner, attempt, step and payload over a restart": async ({ store, expect, restart }) => {
    const tx = await advanced(store);
    await tx.apply({ payload: bytes("p") });
    const { owner, attempt, step, snapshot, payload } = (
      await (await restart()).attach("t")
    ).header();
    expect([owner, attempt, step, snapshot, text(payload)]).toEqual([2n, 5, 3, 2, "p"]);
  },
  "changes only the numbers that a batch names": async ({ store, expect }) => {
    const tx = await advanced(store);
    await tx.apply({ next: { step: 4 }, payload: bytes("p") });
    await tx.apply({ next: { attempt: 6 } });
    const { owner, attempt, step, payload } = tx.header();
    expect([owner, attempt, step, text(payload)]).toEqual([2n, 6, 4, "p"]);
  },
  "hands out a header that the caller may change": async ({ store, expect }) => {
    const tx = await store.begin("t", { payload: bytes("p") });
    tx.header().payload.fill(0);
    expect(text(tx.header().payload)).toBe("p");
  },
};
