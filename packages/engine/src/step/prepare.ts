// Owns the way from what the caller sent to a call that may run: tool, references, schema, class.
import { type EffectClass, type JsonValue, limits, type SchemaIssue } from "@agenttx/model";
import type { AnyTool } from "../effects/contract.js";
import { copyOfJson } from "../json-text.js";
import type { OpenTransaction } from "../state.js";
import { readableThrown } from "../thrown.js";
import { type FailureCause, ownHint } from "./failure-cause.js";
import { errorWithoutSecrets, redactPaths } from "./redact.js";
import { mayHoldReferences, type ResolvedArguments, resolveReferences } from "./references.js";
import type { StepRequest } from "./request.js";
import { isThenable } from "./thenable.js";

/** A call that may run. */
export interface PreparedCall {
  readonly tool: AnyTool;
  readonly effectClass: EffectClass;
  /** What the schema made of the arguments: for the tool alone. */
  readonly args: unknown;
  readonly resolved: ResolvedArguments;
  /** Arguments as sent, declared secrets redacted: JSON text for the step's record. */
  readonly argsText: string;
  /** Ids of the effects whose results this call explicitly uses. */
  readonly dependsOn: readonly string[];
}

export type Preparation =
  | { readonly call: PreparedCall; readonly failure: null }
  | { readonly call: null; readonly failure: FailureCause; readonly resolved: ResolvedArguments };

const NO_SECRETS: ReadonlyMap<string, string> = new Map();
const NO_REFERENCES: ResolvedArguments["references"] = [];
const NO_EFFECTS: readonly string[] = [];

/** The failure of a call whose schema or secrets did not answer in time; nothing has run. */
export function preparedTooLate(request: StepRequest): Preparation {
  return refused(ownHint("timeout", "deadline"), unresolved(request.args));
}

/**
 * Every refusal is a failure of the step (R9); nothing has run then. Without references, and with a
 * schema that answers at once, no promise is made.
 */
export function prepareCall(
  open: OpenTransaction,
  request: StepRequest,
): Preparation | Promise<Preparation> {
  const { args } = request;
  if (args === null) return refused(request.failure ?? NOT_JSON, unresolved(null));
  if (mayHoldReferences(request.argsText)) return resolveAndCheck(open, request, args);
  return check(open, request, unresolved(args), NO_EFFECTS);
}

async function resolveAndCheck(
  open: OpenTransaction,
  request: StepRequest,
  args: JsonValue,
): Promise<Preparation> {
  const dependsOn: string[] = [];
  const resolved = await resolveFor(open, args, dependsOn);
  return check(open, request, resolved, dependsOn);
}

function check(
  open: OpenTransaction,
  request: StepRequest,
  resolved: ResolvedArguments,
  dependsOn: readonly string[],
): Preparation | Promise<Preparation> {
  const tool = open.engine.registry.find(request.tool, open.namespace);
  if (tool === null) return refused(ownHint("unknown_tool", "unknown-tool"), resolved);
  if (resolved.failure !== null) return refused(resolved.failure, resolved);
  const accept = (checked: Checked): Preparation => {
    if (checked.issues !== undefined) return refused(issuesFailure(checked.issues), resolved);
    const { value } = checked;
    const effectClass = classOf(tool, value);
    const argsText = argsForRecord(tool, request);
    return {
      call: { tool, effectClass, args: value, resolved, argsText, dependsOn },
      failure: null,
    };
  };
  // A schema or effect function that throws is the tool's crash (R9); nothing has run.
  const crashed = (thrown: unknown): Preparation => {
    const error = errorWithoutSecrets(readableThrown(thrown), resolved.secrets);
    return refused({ error }, resolved);
  };
  // A copy: what the tool does to its arguments must not change what is recorded and decided.
  const args = copyOrNull(resolved.args);
  if (args === null) return refused(TOO_LARGE, resolved);
  try {
    const checking = tool.schema["~standard"].validate(args);
    if (!isThenable(checking)) return accept(checking);
    return Promise.resolve(checking).then(accept).catch(crashed);
  } catch (error) {
    return crashed(error);
  }
}

/** Null when the references make more of the arguments than may be: few bytes can name many. */
function copyOrNull(args: JsonValue): JsonValue | null {
  try {
    return copyOfJson(args, limits.RESOLVED_ARGUMENTS_BYTES_MAX);
  } catch {
    return null;
  }
}

type Checked = Awaited<ReturnType<AnyTool["schema"]["~standard"]["validate"]>>;

const TOO_LARGE = ownHint("payload_too_large", "arguments-too-large");
const NOT_JSON = ownHint("syntax_error", "arguments-not-json");

function refused(failure: FailureCause, resolved: ResolvedArguments): Preparation {
  return { call: null, failure, resolved };
}

function unresolved(args: JsonValue): ResolvedArguments {
  return {
    inputs: args,
    args,
    references: NO_REFERENCES,
    secrets: NO_SECRETS,
    failure: null,
  };
}

function resolveFor(open: OpenTransaction, args: JsonValue, dependsOn: string[]) {
  const { secrets } = open.engine;
  return resolveReferences(args, {
    async output(step) {
      const record = step < open.nextStep ? await open.graph.record(step) : null;
      if (record?.e !== undefined) dependsOn.push(record.e);
      return record?.o;
    },
    secret: async (name) => (secrets === null ? null : secrets.get(name)),
  });
}

function argsForRecord(tool: AnyTool, request: StepRequest): string {
  if (tool.secrets === undefined || tool.secrets.length === 0) return request.argsText;
  return JSON.stringify(redactPaths(request.args, tool.secrets));
}

function classOf(tool: AnyTool, args: unknown): EffectClass {
  // The schema just made these arguments for this tool.
  const declared = typeof tool.effect === "function" ? tool.effect(args as never) : tool.effect;
  if (declared === "read-only" || declared === "reversible" || declared === "irreversible") {
    return declared;
  }
  throw new TypeError(`The effect function of tool ${tool.name} gave no effect class`);
}

/** A schema's findings as one structured error, which the hints read as structure (H5). */
function issuesFailure(issues: readonly SchemaIssue[]): FailureCause {
  return { error: { issues: issues.map((issue) => ({ ...issue, path: plainPath(issue) })) } };
}

function plainPath(issue: SchemaIssue): (string | number)[] {
  return (issue.path ?? []).map((part) => {
    const key = typeof part === "object" ? part.key : part;
    return typeof key === "number" ? key : String(key);
  });
}
