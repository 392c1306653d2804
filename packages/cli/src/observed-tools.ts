// Owns the watching of look-ups, so that the timeline shows what the other side answered about an
// effect nobody knew the outcome of. A watched tool does what it did before; its answers and errors
// pass through unchanged.

import type { ToolShape } from "@agenttx/engine";
import type { LookupResult, UndoContext } from "@agenttx/model";

/** One call of a tool's `lookup`. */
export interface LookupReport {
  readonly step: number;
  readonly tool: string;
  /** `landed`, `absent`, `unknown`, or `error` when it threw. */
  readonly answer: string;
  readonly durationMs: number;
}

type Lookup = (call: never, context: UndoContext) => Promise<LookupResult> | LookupResult;

/** The tool with `report` called after each look-up; the same tool when it has none. */
export function observeLookups(tool: ToolShape, report: (done: LookupReport) => void): ToolShape {
  // The shape forgets what a look-up is given; the engine calls it with these two.
  const lookup = tool.lookup as Lookup | undefined;
  if (lookup === undefined) return tool;
  const watched: Lookup = async (call, context) => {
    const startedAt = performance.now();
    const done = (answer: string) => {
      const durationMs = performance.now() - startedAt;
      report({ step: context.step, tool: tool.name, answer, durationMs });
    };
    try {
      const answer = await lookup.call(tool, call, context);
      done(answer.status);
      return answer;
    } catch (error) {
      done("error");
      throw error;
    }
  };
  // The prototype chain keeps everything else, methods of a class included.
  return Object.create(tool, { lookup: { value: watched, enumerable: true } }) as ToolShape;
}
