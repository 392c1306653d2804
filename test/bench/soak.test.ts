// Goal: the soak's figures can be trusted. Method: growth of series whose growth is known, an open
// loop on a caller that stalls, and the smallest soak as a process.
import { describe, expect, it } from "vitest";
import { growth, quarters } from "../../bench/harness/growth.mjs";
import { closedLoop, openLoop } from "../../bench/harness/open-loop.mjs";
import { bench, lastLine } from "./bench-process.js";

describe("growth of a series", () => {
  it("compares the medians of the last and the second quarter", () => {
    expect(growth([9, 9, 9, 1, 2, 300, 5, 5, 5, 4, 900, 3])).toBe(2);
    expect(growth(Array.from({ length: 40 }, () => 7))).toBe(1);
  });

  it("does not count what grows while caches fill, in the first quarter", () => {
    expect(growth([1, 50, 100, 100, 100, 100, 100, 100])).toBe(1);
  });

  it("shows a steady leak", () => {
    expect(growth(Array.from({ length: 40 }, (_, index) => 100 + index * 10))).toBeGreaterThan(1.5);
  });

  it("cuts every series into four parts that are all of it, in order", () => {
    for (let length = 8; length < 30; length += 1) {
      const series = Array.from({ length }, (_, index) => index);
      const parts = quarters(series);
      expect(parts.flat()).toEqual(series);
      for (const part of parts) expect(part.length).toBeGreaterThanOrEqual(Math.floor(length / 4));
    }
  });

  it("refuses a series that has no quarters worth comparing", () => {
    expect(() => growth([1, 2, 3, 4, 5, 6, 7])).toThrow("needs 8 samples");
  });
});

describe("the open loop", () => {
  it("makes every call that became due, however slow the answers are", async () => {
    let calls = 0;
    const slow = async () => {
      calls += 1;
      await pause(20);
    };
    const { latencies } = await openLoop([slow, slow], { rate: 400, seconds: 0.1 });
    expect(calls).toBe(40);
    expect(latencies).toHaveLength(40);
    // 40 calls of 20 ms by two callers take 400 ms, 300 longer than they were due in.
    expect(latencies.at(-1)).toBeGreaterThan(200_000);
  });

  it("counts a stall for the calls that were due in it, not only for the one that met it", async () => {
    let first = true;
    const stalls = async () => {
      if (first) await pause(100);
      first = false;
    };
    const { latencies } = await openLoop([stalls], { rate: 1_000, seconds: 0.1 });
    const late = [...latencies].filter((micros) => micros > 20_000);
    expect(late.length).toBeGreaterThan(50);
  });

  it("does not go faster than its rate", async () => {
    const { latencies, seconds } = await openLoop([async () => {}], { rate: 100, seconds: 0.2 });
    expect(latencies).toHaveLength(20);
    expect(seconds).toBeGreaterThanOrEqual(0.19);
  });

  it("tells the rate of a closed loop", async () => {
    const rate = await closedLoop([() => pause(10), () => pause(10)], 0.2);
    expect(rate).toBeGreaterThan(10);
    expect(rate).toBeLessThanOrEqual(210);
  });
});

describe("pnpm bench soak", () => {
  it("prints growth, memory and steps of a run without one error", async () => {
    const { code, stdout, stderr } = await bench("soak", "--minutes", "0.05", "--quick", "--json");
    expect(code, stderr).toBe(0);
    const positive = expect.toSatisfy((value: number) => Number.isFinite(value) && value > 0);
    const finite = expect.toSatisfy((value: number) => Number.isFinite(value));
    const result = lastLine(stdout);
    expect(result).toMatchObject({
      name: "soak",
      ratios: {
        memoryGrowth: positive,
        latencyGrowth: positive,
        latencyGrowthP99: positive,
        processorGrowth: positive,
        kibPerSession: finite,
        kibPerOpenTransaction: finite,
      },
      figures: {
        "0.05 minutes, 64 callers": {
          "most steps/s": { steps: positive },
          "steps done": { steps: positive },
          "errors, must be 0": { errors: 0 },
        },
        "quarter 4": { latency: { p50: positive, p99: positive } },
      },
      problem: null,
    });
    const { series } = result as { series: { rss: number; heapUsed: number }[] };
    expect(series).toHaveLength(8);
    for (const { rss, heapUsed } of series) expect(rss).toBeGreaterThan(heapUsed);
  }, 120_000);

  it("refuses minutes that are none, and minutes for another workload", async () => {
    const none = await bench("soak", "--minutes", "soon");
    expect(none).toMatchObject({ code: 2, stdout: "" });
    expect(none.stderr).toContain("the minutes are a number above 0");
    const other = await bench("restore", "--minutes", "1");
    expect(other.code).toBe(2);
    expect(other.stderr).toContain("--minutes belongs to soak");
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
