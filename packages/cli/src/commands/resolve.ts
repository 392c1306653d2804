// Owns `agenttx resolve`: a person records what became of an effect (C6).

import type { EffectRecord, ResolutionKind } from "@agenttx/model";
import { EXIT } from "../exit-codes.js";
import { openOperator } from "../operator.js";
import { API_VERSION } from "../output.js";
import type { CommandContext } from "../program.js";

export interface ResolveOptions {
  readonly kind: ResolutionKind;
  readonly actor: string;
  readonly note: string;
  readonly tools: readonly string[];
  readonly filesRoot?: string;
}

/**
 * An equal resolution repeated is harmless, another one is RESOLUTION_CONFLICT. `retry` runs the
 * undo again: exit code 6 when it fails again.
 */
export async function resolve(
  context: CommandContext,
  effectId: string,
  options: ResolveOptions,
): Promise<number> {
  const { output } = context;
  const { kind, actor, note, tools, filesRoot } = options;
  const operator = await openOperator({
    ...context,
    tools,
    ...(filesRoot === undefined ? {} : { filesRoot }),
  });
  try {
    const effect = await operator.resolve(effectId, { kind, actor, note });
    output.data({ apiVersion: API_VERSION, type: "effect", ...effect });
    output.line(`${effect.effectId}  ${effect.state}  ${textOf(effect)}`);
    return effect.waitsFor === null ? EXIT.OK : EXIT.UNRESOLVED;
  } finally {
    await operator.close();
  }
}

function textOf(effect: EffectRecord): string {
  const { resolution, problem } = effect;
  if (resolution !== null)
    return `${resolution.kind}, says ${resolution.actor}: ${resolution.note}`;
  return problem ?? "settled";
}
