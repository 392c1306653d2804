// Goal: the verdict of the crash suite finds what it is there to find. Each case breaks one promise
// in otherwise flawless evidence.
import { describe, expect, it } from "vitest";
import { type Evidence, violationsOf, wrongAnswers } from "./checks.js";
import type { Facts, Line } from "./lines.js";
import { Model } from "./model.js";
import type { Deed } from "./world.js";

const CHAIN = { entries: 4, whole: true };

function said(): Line[] {
  const step = (
    rid: string,
    tool: string,
    args: Record<string, unknown>,
    step: number,
  ): readonly Line[] => [
    { k: "step-try", tx: "t1", rid, tool, args },
    {
      k: "step",
      tx: "t1",
      rid,
      status: "SUCCESS",
      step,
      nextStep: step + 1,
      output: null,
      transactionStatus: null,
    },
  ];
  return [
    { k: "begin-try", rid: "b1" },
    { k: "begin", rid: "b1", tx: "t1" },
    ...step("i1", "kv.put", { key: "own/i1", value: "i1" }, 1),
    ...step("i2", "book", { item: "i2" }, 2),
    ...step("i3", "effect.stage", { sink: "mail", payload: { item: "i3" } }, 3),
    ...step("i4", "bump", { counter: "0" }, 4),
    { k: "commit-try", tx: "t1" },
    { k: "commit", tx: "t1", version: "7" },
  ];
}

function flawless(): Evidence & { facts: Facts; world: { deeds: Map<string, Deed> } } {
  const model = new Model();
  for (const line of said()) model.hear(line);
  const deed = { key: "t1.2.1", item: "i2", undone: 0, repeats: 0 };
  const effect = { transaction: "t1", tool: "book", state: "confirmed", step: 2 };
  const facts: Facts = {
    problems: [],
    transactions: [{ id: "t1", status: "COMMITTED", nextStep: 0, version: "7", chain: CHAIN }],
    state: [
      { key: "k/own/i1", value: '"i1"', version: "7" },
      { key: "n/0", value: "1", version: "7" },
    ],
    records: [],
    effects: [{ ...effect, effectId: "t1/1", idempotencyKey: "t1.2.1" }],
    unresolved: [],
    open: [],
    storeChain: CHAIN,
  };
  const sink = [{ item: "i3", transaction: "t1" }];
  return { model, facts, sink, world: { deeds: new Map([[deed.key, deed]]) } };
}

const transaction = (fields: Partial<Facts["transactions"][number]>): Partial<Facts> => ({
  transactions: [
    { id: "t1", status: "COMMITTED", nextStep: 0, version: "7", chain: CHAIN, ...fields },
  ],
});
const record = (space: string): Partial<Facts> => ({
  records: [{ space, transaction: "t1", step: 1, seq: 0, name: "", digest: "" }],
});
const effectIn = (state: string, tool: string): Partial<Facts> => ({
  effects: [
    { effectId: "t1/1", transaction: "t1", tool, state, idempotencyKey: "t1.2.1", step: 2 },
  ],
});

const BROKEN: readonly [string, Partial<Facts>, RegExp][] = [
  ["a lost transaction", { transactions: [] }, /begun and is gone/],
  ["a lost commit", transaction({ status: "ROLLED_BACK" }), /acknowledged as COMMITTED and is/],
  ["a lost value", { state: [] }, /committed k\/own\/i1, which is not there/],
  [
    "half a commit",
    { state: [{ key: "k/own/i1", value: '"i1"', version: "6" }] },
    /has version 6, its commit 7/,
  ],
  ["a value of nobody", { state: [{ key: "k/z", value: "1", version: "1" }] }, /by nobody/],
  ["a left output", record("output"), /left a record in output/],
  ["a left outbox row", record("outbox"), /left a record in outbox/],
  ["a left undo action", record("saga"), /left a record in saga/],
  ["a left intent", effectIn("requested", "book"), /was left requested/],
  ["a doubt after a commit", effectIn("unresolved", "wire"), /its transaction is committed/],
  ["a left transaction", { open: ["t1"] }, /COMMITTED, and open on disk/],
  ["a broken chain", transaction({ chain: { entries: 4, whole: false } }), /chain of t1 is broken/],
  ["a missing chain", transaction({ chain: { entries: 0, whole: true } }), /has no audit chain/],
  ["a changed version", transaction({ version: "8" }), /acknowledged with version 7/],
];

describe("the verdict", () => {
  it("finds nothing in flawless evidence", () => {
    expect(violationsOf(flawless())).toEqual([]);
  });

  it.each(BROKEN)("finds %s", (_name, facts, violation) => {
    const evidence = flawless();
    const broken = { ...evidence, facts: { ...evidence.facts, ...facts } };
    expect(violationsOf(broken).join("\n")).toMatch(violation);
  });

  it("finds a committed effect that was undone, and one that never happened", () => {
    const evidence = flawless();
    for (const deed of evidence.world.deeds.values()) deed.undone = 2;
    expect(violationsOf(evidence)).toEqual([
      "i2 was undone 2 times",
      "i2 is committed and was undone",
    ]);
    evidence.world.deeds.clear();
    expect(violationsOf(evidence)).toEqual(["i2 is committed and never happened"]);
  });

  it("finds an effect that was neither committed, undone nor listed", () => {
    const evidence = flawless();
    evidence.world.deeds.set("t0.1.1", { key: "t0.1.1", item: "x", undone: 0, repeats: 0 });
    expect(violationsOf(evidence)).toEqual(["x stands, was not committed, and has 0 entries"]);
  });

  it("finds a message that was lost, and one that was sent without a commit", () => {
    const evidence = flawless();
    const sink = [{ item: "i9", transaction: "t1" }];
    expect(violationsOf({ ...evidence, sink })).toEqual([
      "i9 was sent, and not committed",
      "i3 was committed, and never sent",
    ]);
  });

  it("finds an answer that changed and a repeat that ran", () => {
    const { model, facts } = flawless();
    const again = { kind: "answered", status: "SUCCESS", step: 1, nextStep: 2, output: null };
    const asked = model.answers.slice(0, 1);
    const wrong = (answer: object) =>
      wrongAnswers(model, { ...facts, answers: [{ rid: "i1", answer }] } as Facts, asked);
    expect(wrong({ ...again, repeated: true })).toEqual([]);
    expect(wrong({ ...again, repeated: false })).toHaveLength(1);
    expect(wrong({ ...again, output: 1, repeated: true })).toHaveLength(1);
    expect(wrong({ kind: "refused", code: "REQUEST_UNDONE" })).toHaveLength(1);
  });

  it("finds a step that succeeded out of order", () => {
    const model = new Model();
    for (const line of said().filter(({ k }) => k !== "begin-try")) model.hear(line);
    model.hear(said()[3] as Line);
    expect(model.violations).toEqual(["t1: step 1 succeeded after 4 steps"]);
  });
});
