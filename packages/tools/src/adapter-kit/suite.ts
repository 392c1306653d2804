// Owns running the claims: with a test framework that is handed in, or without one.

import { ADAPTER_CLAIMS, beginTrial, Skipped } from "./claims.js";
import { type ClaimResult, type ConformanceReport, SUITE_VERSION } from "./report.js";
import type { AdapterTool, AdapterWorld } from "./world.js";

/** The part of a test framework that is used; vitest, jest and mocha with an expect fit. */
export interface TestFramework {
  readonly describe: (name: string, body: () => void) => void;
  readonly it: (name: string, body: () => Promise<void>) => void;
  readonly expect: (value: unknown) => { toEqual(expected: unknown): void };
}

export interface AdapterUnderTest {
  readonly tool: AdapterTool;
  readonly world: AdapterWorld;
}

async function check(
  { tool, world }: AdapterUnderTest,
  title: string,
  proof: (typeof ADAPTER_CLAIMS)[string],
): Promise<ClaimResult> {
  const one = await world.begin();
  try {
    await proof(await beginTrial(tool, one));
    return { title, status: "passed", problem: null };
  } catch (error) {
    const status = error instanceof Skipped ? "skipped" : "failed";
    return { title, status, problem: describe(error) };
  } finally {
    await one.end?.();
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${describe(error.cause)}`;
}

function reportOf(tool: AdapterTool, claims: readonly ClaimResult[]): ConformanceReport {
  const complete = claims.length === Object.keys(ADAPTER_CLAIMS).length;
  const passed = complete && claims.every(({ status }) => status !== "failed");
  return { suite: SUITE_VERSION, tool: tool.name, version: tool.version ?? "1", claims, passed };
}

/** Runs the whole suite and answers with the report. A failed claim is in it, not thrown. */
export async function checkAdapter(adapter: AdapterUnderTest): Promise<ConformanceReport> {
  const claims: ClaimResult[] = [];
  for (const [title, proof] of Object.entries(ADAPTER_CLAIMS)) {
    claims.push(await check(adapter, title, proof));
  }
  return reportOf(adapter.tool, claims);
}

/**
 * Declares the suite as tests, one per claim. `report()` answers what is known so far; complete
 * after the last test.
 */
export function adapterConformance(
  framework: TestFramework,
  adapter: AdapterUnderTest,
): { report(): ConformanceReport } {
  const claims: ClaimResult[] = [];
  framework.describe(`adapter contract: ${adapter.tool.name}`, () => {
    for (const [title, proof] of Object.entries(ADAPTER_CLAIMS)) {
      framework.it(title, async () => {
        const result = await check(adapter, title, proof);
        claims.push(result);
        const status = result.status === "skipped" ? "skipped" : "passed";
        framework.expect(result).toEqual({ ...result, status });
      });
    }
  });
  return { report: () => reportOf(adapter.tool, claims) };
}
