// Owns what a finding about an unknown outcome changes (E5): indeterminate effects right after a
// deadline or crash, and unresolved ones whose outcome is still not known.

import type { EffectRecord } from "@agenttx/model";
import { change, tell } from "./effect-change.js";
import { type Finding, lookUp } from "./lookup.js";
import type { SettleRun } from "./settle.js";

/** Looks the effect up and makes the finding durable. Throws Stopped and storage errors. */
export async function findOut(run: SettleRun, effect: EffectRecord): Promise<void> {
  const { tries, stop } = run.work;
  const finding = await lookUp(run.core, effect, { tries, stop });
  const partial = run.actionsOf(effect).some(({ action }) => action !== "compensate");
  if (finding.kind === "unknown") {
    const waitsFor = waitOf(run, effect, finding);
    await run.giveUp(effect, finding.problem, waitsFor);
  } else if (finding.kind === "absent" && !partial) {
    await absent(run, effect);
  } else {
    // Registered undo actions speak for parts that the lookup of the whole call does not see.
    await landed(run, effect, finding);
  }
}

/** Without a lookup no retry finds out more: only a person can. */
function waitOf(
  run: SettleRun,
  effect: EffectRecord,
  finding: Finding & { kind: "unknown" },
): "retry" | "person" | "tool" {
  if (finding.missing !== null) return finding.missing;
  return run.core.tools.find(effect.tool, effect.namespace)?.lookup === undefined
    ? "person"
    : "retry";
}

async function absent(run: SettleRun, effect: EffectRecord): Promise<void> {
  if (effect.state === "indeterminate") {
    const after = change(run.core, effect, { type: "find-absent" });
    await run.save(effect, after, "find-absent");
    return;
  }
  // Found while it was already open: a resolution by the system (C2).
  const note = "The lookup says that it never took effect.";
  const resolution = {
    kind: "did-not-happen",
    actor: "system",
    note,
    atMs: run.core.clock.now(),
  } as const;
  const after = change(run.core, effect, { type: "resolve", resolution });
  await run.save(effect, after, "resolve", { actor: "system", why: note });
  tell(run.core, "effect-resolved", after, { kind: resolution.kind });
}

async function landed(run: SettleRun, effect: EffectRecord, finding: Finding): Promise<void> {
  const { core } = run;
  const output = finding.kind === "landed" ? finding.output : undefined;
  const within = core.tools.find(effect.tool, effect.namespace)?.undoWithinMs;
  const undoUntilMs = within === undefined ? null : core.clock.now() + within;
  const after =
    effect.state === "indeterminate"
      ? change(core, effect, { type: "confirm", receipt: output ?? null, undoUntilMs })
      : change(core, effect, {
          type: "compensate",
          ...(output === undefined ? {} : { receipt: output }),
        });
  await run.save(effect, after, after.state === "confirmed" ? "confirm" : "compensate", {
    why: "The lookup says that it took effect.",
  });
}
