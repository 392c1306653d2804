// Owns the format of a plan file: the decisions of a scripted agent. README.md of this package
// documents it for people; this schema is what counts.

import { readFile } from "node:fs/promises";
import type { JsonObject, JsonValue } from "@agenttx/model";
import { AgentTxError } from "@agenttx/model";
import { z } from "zod";
import { substituteInputs } from "./inputs.js";

const DECISIONS_MAX = 10_000;

const jsonObject = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;
const toolName = z.string().min(1).max(128);

const when = z
  .strictObject({
    /** A key that a hint named, ignoring case. */
    key: z.string().min(1).optional(),
    /** A hint's category, such as `foreign_key_violation`. */
    category: z.string().min(1).optional(),
    /** How many hints must have matched; default 1. */
    times: z.int().min(1).optional(),
  })
  .refine((value) => value.key !== undefined || value.category !== undefined, {
    error: "names neither a key nor a category",
  });

const alternative = z.strictObject({
  when,
  say: z.string().optional(),
  tool: toolName.optional(),
  args: jsonObject.optional(),
});

const decision = z.strictObject({
  say: z.string().optional(),
  tool: toolName,
  args: jsonObject.default({}),
  alternatives: z.array(alternative).default([]),
});

const planFile = z.strictObject({
  $schema: z.string().optional(),
  name: z.string().min(1),
  agent: z.string().min(1).max(256).default("agenttx-cli"),
  metadata: z.record(z.string(), z.string()).default({}),
  inputs: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  policy: z
    .strictObject({
      maxLocalDepth: z.int().min(0).max(16).optional(),
      maxGlobalResets: z.int().min(0).max(16).optional(),
      replayBudgetFactor: z.number().min(0.1).max(1000).optional(),
      profile: z.enum(["classic", "adaptive"]).optional(),
    })
    .default({}),
  decisions: z.array(decision).min(1).max(DECISIONS_MAX),
});

export type Plan = z.infer<typeof planFile>;
export type PlanDecision = Plan["decisions"][number];
export type PlanAlternative = PlanDecision["alternatives"][number];

/**
 * Checks a parsed plan and fills in its inputs. Throws INVALID_ARGUMENT that names every problem
 * with its place; `source` is the name of the file, for that message.
 */
export function parsePlan(
  value: unknown,
  source: string,
  inputs: Readonly<Record<string, string>> = {},
): Plan {
  const parsed = planFile.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${place(issue.path)}: ${issue.message}`);
    throw invalid(source, problems);
  }
  const { plan, problems } = fillInputs(parsed.data, inputs);
  if (problems.length > 0) throw invalid(source, problems);
  return plan;
}

/** Reads and checks a plan file. NOT_FOUND when there is none, INVALID_ARGUMENT when malformed. */
export async function readPlan(
  path: string,
  inputs: Readonly<Record<string, string>> = {},
): Promise<Plan> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new AgentTxError("NOT_FOUND", `The plan ${path} cannot be read. Check the path.`, {
      details: { path },
      cause,
    });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw invalid(path, [`${(cause as SyntaxError).message}${linePlace(text, cause)}`]);
  }
  return parsePlan(value, path, inputs);
}

function fillInputs(
  plan: Plan,
  given: Readonly<Record<string, string>>,
): { plan: Plan; problems: string[] } {
  const problems = Object.keys(given)
    .filter((name) => !(name in plan.inputs))
    .map((name) => `inputs: the plan has no input "${name}"`);
  const inputs: Record<string, JsonValue> = { ...plan.inputs };
  for (const [name, text] of Object.entries(given)) {
    inputs[name] = typeof plan.inputs[name] === "string" ? text : scalar(text);
  }
  const fill = <T>(value: T): T => substituteInputs(value, inputs, problems);
  const decisions = plan.decisions.map((one) => ({
    ...one,
    args: fill(one.args),
    alternatives: one.alternatives.map((other) =>
      other.args === undefined ? other : { ...other, args: fill(other.args) },
    ),
  }));
  return { plan: { ...plan, decisions }, problems: [...new Set(problems)] };
}

/** A number or boolean when the plan's own value is one; text stays text. */
function scalar(text: string): JsonValue {
  if (text === "true" || text === "false") return text === "true";
  const number = Number(text);
  return text.trim() !== "" && Number.isFinite(number) ? number : text;
}

function invalid(source: string, problems: readonly string[]): AgentTxError {
  const shown = problems.slice(0, 10).join("; ");
  const more = problems.length > 10 ? `; and ${problems.length - 10} more` : "";
  return new AgentTxError(
    "INVALID_ARGUMENT",
    `The plan ${source} is malformed, nothing was run: ${shown}${more}.`,
    { details: { source, problems: problems.slice(0, 100) } },
  );
}

/** `decisions[2].args`, or `plan` for the whole. */
function place(path: readonly PropertyKey[]): string {
  const text = path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("");
  return text === "" ? "plan" : text.replace(/^\./, "");
}

function linePlace(text: string, cause: unknown): string {
  const position = /position (\d+)/.exec(String(cause))?.[1];
  if (position === undefined) return "";
  const before = text.slice(0, Number(position)).split("\n");
  return ` (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`;
}
