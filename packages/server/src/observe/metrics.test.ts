// Goal: what is counted cheaply reads like any Prometheus metric, with bounded labels.
import { describe, expect, it } from "vitest";
import { Metrics } from "./metrics.js";

describe("metrics", () => {
  it("show calls as counter and cumulative histogram", async () => {
    const metrics = new Metrics("1");
    for (const ms of [0.05, 0.3, 0.3, 60_000]) metrics.called("session", "executeStep", "OK", ms);
    metrics.called("http", "executeStep", "NOT_FOUND", 2);
    const text = await metrics.registry.metrics();
    const line = (start: string) => text.split("\n").find((one) => one.startsWith(start));
    const of = 'face="session",method="executeStep"';
    expect(line(`agenttx_calls_total{${of},code="OK"}`)).toMatch(/ 4$/);
    const bucket = (le: string) => {
      const found = text
        .split("\n")
        .find(
          (one) =>
            one.startsWith("agenttx_call_duration_seconds_bucket") &&
            one.includes(of) &&
            one.includes(`le="${le}"`),
        );
      return Number(found?.split(" ").at(-1));
    };
    expect([bucket("0.0001"), bucket("0.0005"), bucket("30"), bucket("+Inf")]).toEqual([
      1, 3, 3, 4,
    ]);
    expect(line(`agenttx_call_duration_seconds_count{${of}}`)).toMatch(/ 4$/);
    expect(text).toContain("# TYPE agenttx_call_duration_seconds histogram");
    // Scraping twice changes nothing.
    expect(await metrics.registry.getSingleMetricAsString("agenttx_calls_total")).toBe(
      await metrics.registry.getSingleMetricAsString("agenttx_calls_total"),
    );
  });

  it("name at most a hundred tools", async () => {
    const metrics = new Metrics("1");
    for (let count = 0; count < 150; count += 1) metrics.stepped(`tool${count}`, "success");
    const text = await metrics.registry.getSingleMetricAsString("agenttx_steps_total");
    expect(text.match(/tool="tool\d+"/g)).toHaveLength(100);
    expect(text).toContain('agenttx_steps_total{tool="other",status="success"} 50');
  });
});
