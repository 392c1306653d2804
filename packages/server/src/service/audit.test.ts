// Goal: the audit is readable as long as it is kept, which is longer than the terminal record (C10), and
// by its tenant alone.
import { createEngine } from "@agenttx/engine";
import { openMemoryStore } from "@agenttx/storage/memory";
import { expect, it } from "vitest";
import { LOCAL_PRINCIPAL } from "../auth/principal.js";
import type { CallContext } from "./context.js";
import type { ServiceDeps } from "./deps.js";
import { audit } from "./operations.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const contextOf = (tenant: string): CallContext => ({
  principal: { ...LOCAL_PRINCIPAL, tenant },
  face: "grpc",
});

it("reads the chain of a transaction whose terminal record has expired", async () => {
  const store = openMemoryStore();
  const timers = new Map<number, () => void>();
  let nowMs = 1_000;
  const clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    schedule: (ms: number, run: () => void) => {
      timers.set(ms, run);
      return () => undefined;
    },
  };
  const engine = createEngine({ store, tools: [], clock });
  const tx = await engine.begin({ namespace: "acme" });
  await tx.commit();
  nowMs += 8 * DAY_MS;
  timers.get(HOUR_MS)?.();
  await expect
    .poll(() => engine.get(tx.id, { namespace: "acme" }).catch(({ code }) => code))
    .toBe("NOT_FOUND");
  // What the call uses of them.
  const deps = { store, engine } as unknown as ServiceDeps;
  const read = async (tenant: string, history: boolean) => {
    const request = { transactionId: tx.id, fromSeq: 0n, history };
    const entries = [];
    for await (const entry of audit(deps, contextOf(tenant), request)) entries.push(entry);
    return entries.map(({ payloadJson }) => JSON.parse(payloadJson));
  };
  expect((await read("acme", true)).map(({ kind }) => kind)).toEqual(["began", "committed"]);
  expect(await read("acme", false)).toHaveLength(2);
  await expect(read("", false)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await engine.close();
});
