// Owns the batch of a step that worked: state, output, receipt, answer, audit and snapshot in one
// (E1a). The caller sees the result only after it.
import type { RecordWrite, StepBatch, StepSucceeded } from "@agenttx/model";
import { successRecord } from "../requests.js";
import { fenceOf, nextHeader, type OpenTransaction, tell } from "../state.js";
import type { Execution } from "./execute.js";
import type { PreparedCall } from "./prepare.js";
import { encodeStep } from "./record.js";
import { type StepRequest, stepDigest } from "./request.js";

export async function recordStep(
  open: OpenTransaction,
  request: StepRequest,
  call: PreparedCall,
  run: Extract<Execution, { kind: "succeeded" }>,
): Promise<StepSucceeded> {
  const step = open.nextStep;
  const writes = run.buffer.seal();
  const writesSoFar = open.writesSoFar + writes.length;
  const { record, audit } = encodeStep({
    step,
    attempt: open.attempt,
    atMs: open.engine.clock.now(),
    tool: request.tool,
    argsText: call.argsText,
    outputText: run.output.text,
    rawContext: request.rawContext,
    effectId: run.effect?.effect.effectId ?? null,
    requestId: request.requestId,
    writesSoFar,
  });
  const records: RecordWrite[] = [{ space: "output", step, value: record }];
  if (request.requestId !== null) {
    const { attempt } = open;
    records.push(successRecord(request.requestId, stepDigest(request), { step, attempt }));
  }
  const batch: StepBatch = {
    fence: fenceOf(open),
    next: { step: step + 1 },
    writes,
    records,
    audit: [audit],
    snapshot: step + 1,
  };
  if (run.effect === null) {
    await open.tx.apply(batch);
  } else {
    records.push(...run.effect.records);
    const { header, payload } = nextHeader(open, { effects: run.effect.counters });
    // Known to have happened: should the batch fail, its undo needs no lookup. What was only staged
    // has not happened and leaves nothing.
    if (run.effect.effect.state !== "staged") open.receipt = run.effect.records;
    await open.tx.apply({ ...batch, payload });
    open.receipt = null;
    open.header = header;
  }
  open.nextStep = step + 1;
  open.writesSoFar = writesSoFar;
  if (open.engine.observer !== null) {
    tell(open, "step-succeeded", step, request.tool, { attempt: open.attempt });
  }
  return {
    status: "SUCCESS",
    step,
    output: run.output.value,
    nextStep: step + 1,
    constraints: open.header.constraints,
    repeated: false,
  };
}
