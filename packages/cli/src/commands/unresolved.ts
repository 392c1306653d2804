// Owns `agenttx unresolved`: what could not be undone and waits.

import type { EffectRecord } from "@agenttx/model";
import { EXIT } from "../exit-codes.js";
import { openOperator } from "../operator.js";
import type { CommandContext } from "../program.js";
import { tableLines } from "../table.js";
import { isoTime } from "./list.js";

/** Oldest first; exit code 0 also when there are some: asking is no failure. */
export async function unresolved(context: CommandContext): Promise<number> {
  const { output } = context;
  const operator = await openOperator(context);
  try {
    const effects = await operator.unresolved();
    output.data(effects);
    if (effects.length === 0) output.note("nothing is unresolved");
    else {
      const columns = [
        { title: "effect", value: (effect: EffectRecord) => effect.effectId },
        { title: "step", align: "right" as const, value: (effect: EffectRecord) => effect.step },
        { title: "tool", value: (effect: EffectRecord) => effect.tool },
        { title: "state", value: (effect: EffectRecord) => effect.state },
        { title: "waits for", value: (effect: EffectRecord) => effect.waitsFor },
        { title: "since", value: (effect: EffectRecord) => isoTime(effect.updatedAtMs) },
        { title: "problem", value: (effect: EffectRecord) => effect.problem },
      ];
      for (const line of tableLines(effects, columns, output.paint)) output.line(line);
      output.note("agenttx resolve <effect> --kind … --actor … --note … records what became of it");
    }
    return EXIT.OK;
  } finally {
    await operator.close();
  }
}
