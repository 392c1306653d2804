// Goal: a span per step, with tool, attempt and decision, ended once. Method: a tracer that notes.
import type { EngineEvent } from "@agenttx/engine";
import { type Span, type TracerProvider, trace } from "@opentelemetry/api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StepTraces } from "./tracing.js";

interface Noted {
  readonly name: string;
  readonly attributes: Record<string, unknown>;
  ends: number;
}

const noted: Noted[] = [];
function register(): void {
  const startSpan = (name: string, options: { attributes?: Record<string, unknown> } = {}) => {
    const span: Noted = { name, attributes: { ...options.attributes }, ends: 0 };
    noted.push(span);
    return {
      isRecording: () => true,
      setAttribute: (key: string, value: unknown) => {
        span.attributes[key] = value;
      },
      setStatus: () => {},
      end: () => {
        span.ends += 1;
      },
    } as unknown as Span;
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) } as unknown as TracerProvider);
}
beforeAll(register);
afterAll(() => trace.disable());

function event(kind: EngineEvent["kind"], data: EngineEvent["data"] = {}): EngineEvent {
  return { kind, transaction: "t", namespace: "", step: 1, tool: "pay", atMs: 0, data };
}

describe("traces", () => {
  it("begin with the steps after an SDK was registered, and cost nothing before", () => {
    const traces = new StepTraces();
    trace.disable();
    const before = noted.length;
    traces.onEvent(event("step-started"));
    traces.onEvent(event("step-succeeded", { attempt: 1 }));
    expect(noted).toHaveLength(before);
    register();
    traces.onEvent(event("step-started"));
    expect(noted).toHaveLength(before + 1);
  });

  it("hold a span for each step, with its attempt", () => {
    const traces = new StepTraces();
    traces.onEvent(event("step-started"));
    traces.onEvent(event("step-succeeded", { attempt: 3 }));
    traces.onEvent(event("step-succeeded", { attempt: 3 }));
    expect(noted.at(-1)).toMatchObject({
      name: "execute_tool pay",
      ends: 1,
      attributes: { "gen_ai.tool.name": "pay", "agenttx.step.id": 1, "agenttx.attempt": 3 },
    });
  });

  it("end after the decision of a failure", () => {
    const traces = new StepTraces();
    traces.onEvent(event("step-started"));
    traces.onEvent(event("step-failed", { category: "timeout" }));
    expect(noted.at(-1)?.ends).toBe(0);
    traces.onEvent(event("decision", { strategy: "LOCAL_BACKTRACK", rollbackToStep: 1 }));
    expect(noted.at(-1)).toMatchObject({
      ends: 1,
      attributes: {
        "error.type": "timeout",
        "agenttx.rollback.strategy": "LOCAL_BACKTRACK",
        "agenttx.rollback.to_step": 1,
      },
    });
  });
});
