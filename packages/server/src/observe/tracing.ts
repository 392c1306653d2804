// Owns traces: one span a step, through the OpenTelemetry API alone. Without an SDK in the process
// this costs next to nothing. Span and attribute names follow the GenAI conventions.

import type { EngineEvent } from "@agenttx/engine";
import { type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";

const tracer = trace.getTracer("agenttx");
/** Steps whose end never came (a crash of the engine's own) are forgotten beyond this many. */
const OPEN_SPANS_MAX = 10_000;

export class StepTraces {
  readonly #open = new Map<string, Span>();

  onEvent(event: EngineEvent): void {
    const key = `${event.transaction}/${event.step}`;
    if (event.kind === "step-started") {
      this.#begin(key, event);
      return;
    }
    const span = this.#open.get(key);
    if (span === undefined) return;
    if (event.kind === "decision") {
      span.setAttribute("agenttx.rollback.strategy", String(event.data.strategy ?? ""));
      span.setAttribute("agenttx.rollback.to_step", Number(event.data.toStep ?? 0));
      return;
    }
    if (event.kind !== "step-succeeded" && event.kind !== "step-failed") return;
    if (event.kind === "step-failed") {
      span.setAttribute("error.type", String(event.data.category ?? "other"));
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    // A decision follows a failure at once; the span ends after it.
    setImmediate(() => this.#end(key, span));
  }

  #begin(key: string, event: EngineEvent): void {
    if (this.#open.size >= OPEN_SPANS_MAX) {
      for (const [oldest, span] of this.#open) {
        this.#end(oldest, span);
        break;
      }
    }
    const span = tracer.startSpan(`execute_tool ${event.tool ?? ""}`, {
      kind: SpanKind.INTERNAL,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": event.tool ?? "",
        "agenttx.transaction.id": event.transaction,
        "agenttx.step.id": event.step,
        "agenttx.attempt": Number(event.data.attempt ?? 0),
      },
    });
    this.#open.set(key, span);
  }

  #end(key: string, span: Span): void {
    if (this.#open.get(key) === span) this.#open.delete(key);
    span.end();
  }
}
