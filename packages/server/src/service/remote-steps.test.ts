// Goal: what is kept of prepared steps is bounded by open transactions (I1 of remote-steps.ts).
import { createEngine } from "@agenttx/engine";
import { openMemoryStore } from "@agenttx/storage/memory";
import { expect, it } from "vitest";
import { LOCAL_PRINCIPAL } from "../auth/principal.js";
import { RemoteTools } from "../work/remote-tools.js";
import { WorkQueue } from "../work/work-queue.js";
import type { ServiceDeps } from "./deps.js";
import { RemoteSteps } from "./remote-steps.js";

const ASKED = {
  fencingToken: 0n,
  toolName: "search",
  effectClass: "read-only",
  argumentsJson: "{}",
  stepId: 1,
  requestId: "r1",
  rawContext: "",
};

it("keeps nothing of a step prepared in a transaction that has ended", async () => {
  const remote = new RemoteTools(new WorkQueue(), 1_000);
  const engine = createEngine({
    store: openMemoryStore(),
    tools: [],
    resolveTool: (name, namespace) => remote.find(name, namespace),
  });
  // The few members that prepared steps use.
  const steps = new RemoteSteps({ engine, remote } as unknown as ServiceDeps);
  const context = { principal: LOCAL_PRINCIPAL, face: "session" } as const;
  const tx = await engine.begin({ namespace: LOCAL_PRINCIPAL.tenant });
  const request = { ...ASKED, transactionId: tx.id };
  const { attempt } = await steps.prepare(context, request);
  expect(steps.kept).toBe(1);
  const result = { $case: "outputJson", value: "{}" } as const;
  const done = { transactionId: tx.id, stepId: 1, attempt, result, writes: [], requestId: "" };
  await steps.complete(context, done);
  await tx.commit();
  steps.forget(tx.id);
  await expect(steps.prepare(context, { ...request, requestId: "r2" })).rejects.toMatchObject({
    code: "TRANSACTION_ENDED",
  });
  await steps.prepare(context, request);
  expect(steps.kept).toBe(0);
  await engine.close();
});
