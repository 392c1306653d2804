// Owns finding out what became of an effect whose outcome is not known (E5).
//
//   K1 "absent" counts only when the adapter calls it final, or when a second lookup after a
//      settling time agrees; everything less is unknown.
//   K2 A lookup changes nothing and may be repeated; one that fails is tried again, then unknown.

import type { EffectRecord, JsonValue, LookupResult, UndoContext } from "@agenttx/model";
import { RECEIPT_BYTES_MAX, toJson } from "../json-text.js";
import type { AnyTool } from "./contract.js";
import { type EffectsCore, waitAfter } from "./core.js";
import { Stopped, sleep, withDeadline } from "./deadline.js";
import { problemText } from "./problem-text.js";
import { fillSecrets, hiddenTexts } from "./secrets.js";

export type Finding =
  /** `output` undefined: it happened, but its result is lost. */
  | { readonly kind: "landed"; readonly output: JsonValue | undefined }
  | { readonly kind: "absent" }
  | { readonly kind: "unknown"; readonly problem: string; readonly missing: "tool" | null };

export interface LookupOptions {
  readonly tries: number;
  readonly stop: AbortSignal | null;
  /** The arguments in clear, where the caller still has them. */
  readonly args?: JsonValue;
}

/** Asks the tool what happened. Throws Stopped only; everything else is a finding. */
export async function lookUp(
  core: EffectsCore,
  effect: EffectRecord,
  options: LookupOptions,
): Promise<Finding> {
  const tool = core.tools.find(effect.tool, effect.namespace);
  const name = `"${effect.tool}" (version ${effect.toolVersion})`;
  if (tool === null) {
    const problem = `Tool ${name} is not registered in this deployment, so nobody can ask what happened. It is looked up when the tool is back.`;
    return { kind: "unknown", problem, missing: "tool" };
  }
  if (tool.lookup === undefined) {
    const problem = `It is not known whether ${name} took effect, and the tool has no lookup. Find out and record it.`;
    return { kind: "unknown", problem, missing: null };
  }
  const first = await askUntilAnswered(core, tool, effect, options);
  if (first.status !== "absent" || first.final) return findingOf(first);
  await sleep(core.clock, core.limits.settlingMs, options.stop);
  return findingOf(await askUntilAnswered(core, tool, effect, options), true);
}

type Answer = LookupResult | { readonly status: "failed"; readonly problem: string };

function findingOf(answer: Answer, settled = false): Finding {
  switch (answer.status) {
    case "landed":
      return { kind: "landed", output: jsonOrLost(answer.output) };
    case "absent":
      if (answer.final || settled) return { kind: "absent" };
      return unknown("The lookup did not say whether the absence is final.");
    case "unknown":
      return unknown("The lookup could not tell whether it took effect.");
    case "failed":
      return unknown(`The lookup failed: ${answer.problem}`);
  }
}

function unknown(problem: string): Finding {
  return { kind: "unknown", problem, missing: null };
}

/** An output that JSON cannot keep is as good as lost: the call landed without one. */
function jsonOrLost(output: unknown): JsonValue | undefined {
  if (output === undefined) return undefined;
  try {
    return toJson(output, RECEIPT_BYTES_MAX).value;
  } catch {
    return undefined;
  }
}

async function askUntilAnswered(
  core: EffectsCore,
  tool: AnyTool,
  effect: EffectRecord,
  options: LookupOptions,
): Promise<Answer> {
  for (let failed = 1; ; failed += 1) {
    const answer = await ask(core, tool, effect, options);
    if (answer.status !== "failed" || failed >= options.tries) return answer;
    await sleep(core.clock, waitAfter(core, failed), options.stop);
  }
}

async function ask(
  core: EffectsCore,
  tool: AnyTool,
  effect: EffectRecord,
  options: LookupOptions,
): Promise<Answer> {
  const limit = { ms: core.limits.lookupDeadlineMs, outer: options.stop };
  const used = new Set<string>();
  if (options.args !== undefined) {
    for (const { clear } of hiddenTexts(options.args, effect.request)) used.add(clear);
  }
  const raced = await withDeadline(core.clock, limit, async (signal) => {
    const args =
      options.args ?? (await fillSecrets(effect.request, effect.secretPaths, core.secrets, used));
    const call = { args, idempotencyKey: effect.idempotencyKey };
    // The registry forgets argument types; these arguments passed the tool's schema once.
    return tool.lookup?.(call as never, lookupContext(effect, signal)) ?? NO_ANSWER;
  });
  if (raced.kind === "threw") return { status: "failed", problem: problemText(raced.error, used) };
  if (raced.kind === "returned") return checked(raced.value);
  raced.late.catch(() => undefined);
  if (raced.why === "aborted") throw new Stopped();
  return { status: "failed", problem: `no answer within ${limit.ms} ms` };
}

const NO_ANSWER: LookupResult = { status: "unknown" };

/** Tools come from outside: an answer of another shape tells nothing. */
function checked(answer: unknown): Answer {
  const status =
    typeof answer === "object" && answer !== null && "status" in answer ? answer : null;
  if (status?.status === "landed") return answer as LookupResult;
  if (status?.status === "absent") {
    return { status: "absent", final: (answer as { final?: unknown }).final === true };
  }
  return NO_ANSWER;
}

function lookupContext(effect: EffectRecord, signal: AbortSignal): UndoContext {
  return {
    transaction: effect.transaction,
    namespace: effect.namespace,
    step: effect.step,
    effectId: effect.effectId,
    idempotencyKey: effect.idempotencyKey,
    undoKey: `${effect.effectId}/lookup`,
    signal,
  };
}
