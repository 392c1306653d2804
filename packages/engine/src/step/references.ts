// Owns `${steps.N.path}` and `${secrets.NAME}` inside arguments.
//
//   I1 One pass over what the caller sent: text that comes out of an output or a secret is never
//      read as a reference again.
//   I2 A reference that is the whole text gives the whole value; inside a longer text it must be
//      a scalar.
//   I3 An edge is recorded for every reference to an earlier step, also when its path is missing,
//      so that a jump finds the producer (G3).
//   I4 Secrets are in what the tool gets and nowhere else (C9).
//   I5 What references make of the arguments is bounded, however often they name the same output.
import { type JsonValue, limits } from "@agenttx/model";
import { type FailureCause, ownHint } from "./failure-cause.js";
import { childPath, readPath, valueAt } from "./paths.js";

/** One edge into the step, in the graph's words. */
export interface StepReference {
  readonly from: number;
  readonly outputPath: string;
  readonly inputPath: string;
}

export interface ResolvedArguments {
  /** For the graph and for records: secrets still as references. */
  readonly inputs: JsonValue;
  /** For the tool alone. */
  readonly args: JsonValue;
  readonly references: readonly StepReference[];
  /** The secrets that were used, by name: their values are taken out of records and errors. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly failure: FailureCause | null;
}

export interface ReferenceSources {
  /** Output of a step of this transaction, or undefined when there is none. */
  readonly output: (step: number) => Promise<JsonValue | undefined>;
  readonly secret: (name: string) => Promise<string | null>;
}

const REFERENCE = /\$\{(steps|secrets)\.([^{}]*)\}/g;

/** True when the JSON text may hold a reference; most do not, and then nothing is walked. */
export function mayHoldReferences(argsText: string): boolean {
  return argsText.includes("${s");
}

/** Resolves every reference. The first that cannot be is `failure`; its text stays as it was. */
export async function resolveReferences(
  args: JsonValue,
  sources: ReferenceSources,
): Promise<ResolvedArguments> {
  const found = collect(args);
  const outputs = new Map<number, JsonValue | undefined>();
  const secrets = new Map<string, string | null>();
  for (const { kind, body } of found) {
    if (kind === "secrets") secrets.set(body, await sources.secret(body));
    const step = kind === "steps" ? readStepBody(body)?.step : undefined;
    if (step !== undefined && !outputs.has(step)) outputs.set(step, await sources.output(step));
  }
  const walk = new Resolution(outputs, secrets);
  const inputs = walk.resolve(args, "", false);
  const references = walk.references.slice();
  const resolved = secrets.size === 0 ? inputs : walk.resolve(args, "", true);
  const used = [...secrets].filter((entry): entry is [string, string] => entry[1] !== null);
  return { inputs, args: resolved, references, secrets: new Map(used), failure: walk.failure };
}

interface Found {
  readonly kind: "steps" | "secrets";
  readonly body: string;
}

function collect(value: JsonValue, found: Found[] = []): Found[] {
  if (typeof value === "string") {
    for (const [, kind, body = ""] of value.matchAll(REFERENCE)) {
      found.push({ kind: kind === "steps" ? "steps" : "secrets", body });
    }
  } else if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) collect(item, found);
  }
  return found;
}

/** `3.customer.id` -> step 3, path `customer.id`. */
function readStepBody(body: string): { readonly step: number; readonly path: string } | null {
  const match = /^([1-9]\d{0,8})(?:\.(?!\.)|(?=\[)|$)/.exec(body);
  if (match === null) return null;
  return { step: Number(match[1]), path: body.slice(match[0].length) };
}

class Resolution {
  readonly references: StepReference[] = [];
  failure: FailureCause | null = null;
  readonly #outputs: ReadonlyMap<number, JsonValue | undefined>;
  readonly #secrets: ReadonlyMap<string, string | null>;
  /** Characters that may still come into texts: a few references can name a long text often (I5). */
  #textLeft: number = limits.RESOLVED_ARGUMENTS_BYTES_MAX;

  constructor(
    outputs: ReadonlyMap<number, JsonValue | undefined>,
    secrets: ReadonlyMap<string, string | null>,
  ) {
    this.#outputs = outputs;
    this.#secrets = secrets;
  }

  resolve(value: JsonValue, path: string, withSecrets: boolean): JsonValue {
    if (typeof value === "string") return this.#text(value, path, withSecrets);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      return value.map((item, index) => this.resolve(item, childPath(path, index), withSecrets));
    }
    const copy: Record<string, JsonValue> = {};
    for (const [key, item] of Object.entries(value)) {
      copy[key] = this.resolve(item, childPath(path, key), withSecrets);
    }
    return copy;
  }

  #text(text: string, path: string, withSecrets: boolean): JsonValue {
    if (!text.includes("${")) return text;
    const whole = /^\$\{(steps|secrets)\.([^{}]*)\}$/.exec(text);
    if (whole !== null) {
      const [all, kind, body = ""] = whole;
      return this.#value(kind, body, path, withSecrets) ?? all;
    }
    return text.replace(REFERENCE, (all: string, kind: string, body: string) => {
      const value = this.#value(kind, body, path, withSecrets);
      if (value === undefined) return all;
      if (typeof value !== "object" || value === null) return this.#within(String(value), path);
      this.#fail(path, "reference-inside-text-is-no-scalar", "type_mismatch");
      return all;
    });
  }

  #within(text: string, path: string): string {
    this.#textLeft -= text.length;
    if (this.#textLeft >= 0) return text;
    this.#fail(path, "arguments-too-large", "payload_too_large");
    return "";
  }

  #value(
    kind: string | undefined,
    body: string,
    path: string,
    withSecrets: boolean,
  ): JsonValue | undefined {
    if (kind === "secrets") {
      const secret = this.#secrets.get(body);
      if (typeof secret !== "string") this.#fail(path, "secret-not-found");
      return withSecrets && typeof secret === "string" ? secret : undefined;
    }
    const read = readStepBody(body);
    const segments = read === null ? null : readPath(read.path);
    if (read === null || segments === null) {
      this.#fail(path, "reference-malformed");
      return undefined;
    }
    const output = this.#outputs.get(read.step);
    if (output === undefined) {
      this.#fail(path, "reference-to-no-step");
      return undefined;
    }
    this.references.push({ from: read.step, outputPath: read.path, inputPath: path });
    const value = valueAt(output, segments);
    if (value === undefined) this.#fail(path, "reference-path-missing");
    return value;
  }

  #fail(
    path: string,
    rule: string,
    category:
      | "unresolved_reference"
      | "type_mismatch"
      | "payload_too_large" = "unresolved_reference",
  ): void {
    this.failure ??= ownHint(category, rule, path);
  }
}
