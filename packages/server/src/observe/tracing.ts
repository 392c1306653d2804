// Owns traces: one span a step, through the OpenTelemetry API alone. Without an SDK in the process
// this costs next to nothing. Span and attribute names follow the GenAI conventions.

import type { EngineEvent } from "@agenttx/engine";
import {
  ProxyTracerProvider,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";

const NAME = "agenttx";
/** Steps whose end never came (a crash of the engine's own) are forgotten beyond this many. */
const OPEN_SPANS_MAX = 10_000;

export class StepTraces {
  readonly #open = new Map<string, Span>();

  onEvent(event: EngineEvent): void {
    if (event.kind === "step-started") {
      this.#begin(event);
      return;
    }
    if (this.#open.size === 0) return;
    const key = keyOf(event);
    const span = this.#open.get(key);
    if (span === undefined) return;
    switch (event.kind) {
      case "step-succeeded":
        span.setAttribute("agenttx.attempt", Number(event.data.attempt ?? 0));
        this.#end(key, span);
        break;
      case "step-failed":
        span.setAttribute("error.type", String(event.data.category ?? "other"));
        span.setStatus({ code: SpanStatusCode.ERROR });
        break;
      case "decision":
        span.setAttribute("agenttx.rollback.strategy", String(event.data.strategy ?? ""));
        span.setAttribute("agenttx.rollback.to_step", Number(event.data.rollbackToStep ?? 0));
        this.#end(key, span);
        break;
      case "frozen":
      case "aborted":
        this.#end(key, span);
        break;
      default:
        break;
    }
  }

  #begin(event: EngineEvent): void {
    const tracer = registeredTracer();
    if (tracer === null) return;
    const span = tracer.startSpan(`execute_tool ${event.tool ?? ""}`, {
      kind: SpanKind.INTERNAL,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": event.tool ?? "",
        "agenttx.transaction.id": event.transaction,
        "agenttx.step.id": event.step,
      },
    });
    // Without an SDK, or not sampled: nobody will see it.
    if (!span.isRecording()) return;
    if (this.#open.size >= OPEN_SPANS_MAX) {
      for (const [oldest, forgotten] of this.#open) {
        this.#end(oldest, forgotten);
        break;
      }
    }
    this.#open.set(keyOf(event), span);
  }

  #end(key: string, span: Span): void {
    this.#open.delete(key);
    span.end();
  }
}

/** Null while no SDK is registered; one may be at any time. Then no attributes are put together. */
function registeredTracer(): Tracer | null {
  const provider = trace.getTracerProvider();
  if (!(provider instanceof ProxyTracerProvider)) return provider.getTracer(NAME);
  return provider.getDelegateTracer(NAME) ?? null;
}

function keyOf({ transaction, step }: EngineEvent): string {
  return `${transaction}/${step}`;
}
