// Goal: the bench command keeps its promises to whoever reads its output. Method: the smallest run
// of one workload as a process, and the goals against what workloads report.
import { describe, expect, it } from "vitest";
import { bench, lastLine } from "./bench-process.js";

describe("pnpm bench", () => {
  it("prints one parsable result with the ratios of restore and where they were measured", async () => {
    const { code, stdout, stderr } = await bench("restore", "--json", "--quick", "--seed", "7");
    expect(code, stderr).toBe(0);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    const result = lastLine(stdout);
    const positive = expect.toSatisfy((value: number) => Number.isFinite(value) && value > 0);
    expect(result).toMatchObject({
      name: "restore",
      seed: 7,
      mode: "quick",
      ratios: {
        floor: positive,
        entrywise: positive,
        floorDistinct: positive,
        entrywiseDistinct: positive,
        growth: positive,
      },
      machine: { cpu: expect.any(String), cores: positive, kernel: expect.any(String) },
      versions: { node: process.versions.node, rocksdb: expect.stringMatching(/^\d+\.\d+\.\d+$/) },
      revision: expect.stringMatching(/^([0-9a-f]{40}(\+changes)?|unknown)$/),
      durability: { "AgentTx restore": expect.stringContaining("write-ahead log") },
      figures: { "1,000 keys": { agenttx: { p50: positive, p95: positive, p99: positive } } },
    });
    expect(stderr).toContain("ratio floor");
  }, 60_000);

  it("refuses a workload that does not exist and says how to use it", async () => {
    const { code, stdout, stderr } = await bench("restores", "--json");
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain("there is no workload restores");
    expect(stderr).toContain("usage:");
  });

  it("refuses a seed that is no number", async () => {
    const { code, stderr } = await bench("restore", "--seed", "many");
    expect(code).toBe(2);
    expect(stderr).toContain("the seed is a whole number");
  });
});
