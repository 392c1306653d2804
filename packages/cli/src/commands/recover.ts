// Owns `agenttx recover`: undo what earlier processes left open, without running a plan.

import { EXIT } from "../exit-codes.js";
import { API_VERSION, printable } from "../output.js";
import type { CommandContext } from "../program.js";
import { recoverEngine, recoveryText, UndoCounter } from "../run/recovery.js";
import type { RecoverySummary } from "../run/result.js";
import { openSession } from "../session.js";
import { formatMs } from "../timeline/duration.js";

const NOTHING: RecoverySummary = {
  found: 0,
  resumed: 0,
  rolledBack: 0,
  frozen: [],
  unresolvedEffects: [],
  problems: [],
  compensationsRun: 0,
  durationMs: 0,
};

/** Exit code 6 when something stays unresolved or could not be recovered. */
export async function recover(
  context: CommandContext,
  options: {
    readonly tools: readonly string[];
    readonly filesRoot?: string;
    readonly resume?: boolean;
  },
): Promise<number> {
  const { output, dataDirectory } = context;
  const undos = new UndoCounter();
  const session = await openSession({
    dataDirectory,
    ...options,
    observer: { onEvent: (event) => undos.see(event) },
  });
  try {
    const recovered = await recoverEngine(session.engine, {
      undos,
      ...(options.resume === undefined ? {} : { resume: options.resume }),
    });
    const summary = recovered ?? NOTHING;
    output.data({ apiVersion: API_VERSION, type: "recovery", ...summary });
    if (recovered === null) output.note("nothing to recover");
    else output.line(`${recoveryText(summary)}, in ${formatMs(summary.durationMs)}`);
    for (const { transaction, message } of summary.problems) {
      output.note(`${transaction}: ${printable(message)}`);
    }
    for (const effect of summary.unresolvedEffects) output.note(`unresolved: ${effect}`);
    const settled = summary.unresolvedEffects.length === 0 && summary.problems.length === 0;
    return settled ? EXIT.OK : EXIT.UNRESOLVED;
  } finally {
    await session.close();
  }
}
