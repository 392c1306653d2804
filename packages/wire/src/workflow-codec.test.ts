// Goal: nothing of a workflow, a checkpoint or a reconciliation item is lost or invented between model and
// messages. Method: fast-check makes model values; each is sent through real bytes and compared.
import type { Checkpoint, EffectRecord, ReconciliationItem, WorkflowView } from "@agenttx/model";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ReconciliationItem as ItemMessage } from "./gen/agenttx/v1/effects.js";
import { Checkpoint as CheckpointMessage, Workflow } from "./gen/agenttx/v1/workflows.js";
import {
  checkpointFromWire,
  checkpointToWire,
  encodeMessage,
  itemFromWire,
  itemToWire,
  type MessageCodec,
  workflowFromWire,
  workflowToWire,
} from "./index.js";

function throughBytes<T>(codec: MessageCodec<T>, message: T): T {
  return codec.decode(encodeMessage(codec, message));
}

const text = fc.string({ unit: "grapheme", maxLength: 24 });
const word = fc.stringMatching(/^[a-z][a-z_]{0,12}$/);
const nullable = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: null });
const ms = fc.nat(Number.MAX_SAFE_INTEGER);
const count = fc.nat(2 ** 31 - 1);
const token = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const ref = fc.record({ revision: count, step: count });

const workflow: fc.Arbitrary<WorkflowView> = fc.record({
  id: word,
  namespace: fc.constant(""),
  name: text,
  metadata: fc.dictionary(word, text, { maxKeys: 3 }),
  state: fc.constantFrom("Running", "Frozen", "Compensating", "Reconciliation", "Recovered"),
  revision: count,
  transaction: word,
  transactionStatus: word,
  owner: text,
  fencingToken: token.map((value) => `${value}`),
  revisions: fc.array(
    fc.record({
      revision: count,
      transaction: word,
      base: nullable(ref),
      startedAtMs: ms,
      planDigest: nullable(word),
    }),
    { maxLength: 3 },
  ),
  recovery: nullable(
    fc.record({
      actor: text,
      reason: text,
      requestedAtMs: ms,
      checkpoint: nullable(ref),
      open: fc.array(word, { maxLength: 3 }),
      untried: fc.array(word, { maxLength: 3 }),
      problem: nullable(word),
    }),
  ),
  createdAtMs: ms,
  changedAtMs: ms,
});

const checkpoint: fc.Arbitrary<Checkpoint> = fc.record({
  revision: count,
  step: count,
  name: text,
  schemaVersion: count,
  eventPosition: ms,
  invariants: fc.array(
    fc.oneof(
      fc.record({ name: word, holds: fc.constant(true), problem: fc.constant(null) }),
      fc.record({ name: word, holds: fc.constant(false), problem: text }),
    ),
    { maxLength: 3 },
  ),
  validated: fc.boolean(),
  atMs: ms,
});

const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)));

const EFFECT: EffectRecord = {
  effectId: "t/1",
  transaction: "t",
  namespace: "",
  step: 1,
  attempt: 1,
  tool: "carrier.book",
  toolVersion: "1",
  effectClass: "reversible",
  state: "unresolved",
  idempotencyKey: "k",
  requestDigest: "d",
  request: { order: "1" },
  receipt: null,
  dependsOn: [],
  compensation: "auto",
  owner: null,
  undoUntilMs: 5,
  undoAttempts: 1,
  forwardRecovery: "call them",
  outcomeKnown: true,
  undone: [],
  waitsFor: "person",
  secretPaths: [],
  problem: "collected",
  resolution: null,
  createdAtMs: 1,
  updatedAtMs: 2,
};

const item: fc.Arbitrary<ReconciliationItem> = fc.record({
  workflow: word,
  revision: count,
  effect: fc.constant(EFFECT),
  ageMs: ms,
  evidence: fc.array(
    fc.record({
      atMs: ms,
      event: word,
      why: nullable(word),
      actor: nullable(word),
      late: json,
    }),
    { maxLength: 3 },
  ),
  dependants: fc.array(fc.record({ effectId: word, state: word }), { maxLength: 2 }),
  undoUntilMs: fc.constant(EFFECT.undoUntilMs),
  forwardRecovery: fc.constant(EFFECT.forwardRecovery),
});

it("carries workflows", () => {
  fc.assert(
    fc.property(workflow, (view) => {
      expect(workflowFromWire(throughBytes(Workflow, workflowToWire(view)))).toEqual(view);
    }),
  );
});

it("carries checkpoints", () => {
  fc.assert(
    fc.property(checkpoint, (one) => {
      expect(checkpointFromWire(throughBytes(CheckpointMessage, checkpointToWire(one)))).toEqual(
        one,
      );
    }),
  );
});

it("carries reconciliation items with their evidence", () => {
  fc.assert(
    fc.property(item, (one) => {
      expect(itemFromWire(throughBytes(ItemMessage, itemToWire(one)))).toEqual(one);
    }),
  );
});
