// Owns secrets in recorded arguments (C9): references are stored, values never; compensation and
// lookups get the values back through the port.
//
//   I1 Only texts that the caller wrote as a reference are filled in (`secretPaths`): the same text
//      that came out of an output stays text.
//   I2 A text that the record hides is hidden in undo arguments as well.

import type { JsonObject, JsonValue } from "@agenttx/model";
import { AgentTxError } from "@agenttx/model";
import type { SecretSource } from "../ports.js";

const OPENING = "${secrets.";
const REFERENCE = /\$\{secrets\.([^{}]*)\}/g;

export interface HiddenText {
  readonly path: string;
  readonly clear: string;
  readonly recorded: string;
}

/** Texts that differ between what the tool gets and what is stored. */
export function hiddenTexts(clear: JsonValue, recorded: JsonValue): HiddenText[] {
  if (clear === recorded) return [];
  const found: HiddenText[] = [];
  visit(recorded, "", (text, path) => {
    const value = at(clear, path);
    if (typeof value === "string" && value !== text && value !== "") {
      found.push({ path, clear: value, recorded: text });
    }
  });
  return found;
}

/**
 * The hidden texts that can be filled in again, as JSON pointers. A text whose clear form still
 * reads like a reference mixes the caller's own with foreign text: it stays as recorded (I1).
 */
export function secretPathsOf(hidden: readonly HiddenText[]): string[] {
  return hidden
    .filter(({ clear, recorded }) => recorded.includes(OPENING) && !clear.includes(OPENING))
    .map(({ path }) => path);
}

/** Undo arguments with every hidden text replaced by what the record says instead (I2). */
export function hideIn(
  args: JsonValue,
  hidden: readonly HiddenText[],
  fillable: readonly string[],
): { readonly args: JsonValue; readonly secretPaths: string[] } {
  if (hidden.length === 0) return { args, secretPaths: [] };
  const byText = new Map(hidden.map((one) => [one.clear, one]));
  const secretPaths: string[] = [];
  const hiddenArgs = map(args, "", (text, path) => {
    const one = byText.get(text);
    if (one === undefined) return text;
    if (fillable.includes(one.path)) secretPaths.push(path);
    return one.recorded;
  });
  return { args: hiddenArgs, secretPaths };
}

/**
 * A copy with the references at `paths` filled in; `used` gets the values, to be hidden in what the
 * call says. Throws NOT_FOUND for a missing secret.
 */
export async function fillSecrets(
  value: JsonValue,
  paths: readonly string[],
  secrets: SecretSource | null,
  used: Set<string> = new Set(),
): Promise<JsonValue> {
  if (paths.length === 0) return value;
  const filled = new Map<string, string>();
  for (const path of paths) {
    const text = at(value, path);
    if (typeof text !== "string") continue;
    filled.set(path, await fillText(text, secrets, used));
  }
  return map(value, "", (text, path) => filled.get(path) ?? text);
}

async function fillText(
  text: string,
  secrets: SecretSource | null,
  used: Set<string>,
): Promise<string> {
  const values = new Map<string, string>();
  for (const [, name = ""] of text.matchAll(REFERENCE)) {
    const value = (await secrets?.get(name)) ?? null;
    if (value === null) {
      throw new AgentTxError(
        "NOT_FOUND",
        `Secret "${name}" is not available; the call was not made. Provide it and try again.`,
      );
    }
    values.set(name, value);
    used.add(value);
  }
  return text.replace(REFERENCE, (all: string, name: string) => values.get(name) ?? all);
}

function visit(value: JsonValue, path: string, onText: (text: string, path: string) => void): void {
  map(value, path, (text, where) => {
    onText(text, where);
    return text;
  });
}

function map(
  value: JsonValue,
  path: string,
  onText: (text: string, path: string) => string,
): JsonValue {
  if (typeof value === "string") return onText(value, path);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((item, index) => map(item, `${path}/${index}`, onText));
  const copy: [string, JsonValue][] = Object.entries(value).map(([name, item]) => [
    name,
    map(item, `${path}/${escapeName(name)}`, onText),
  ]);
  // fromEntries defines own members, so a name like __proto__ stays data.
  return Object.fromEntries(copy);
}

function at(value: JsonValue, pointer: string): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const token of pointer === "" ? [] : pointer.slice(1).split("/")) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) {
      return undefined;
    }
    found = isList(found) ? found[Number(name)] : (found as JsonObject)[name];
  }
  return found;
}

function escapeName(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Array.isArray does not narrow readonly arrays. */
function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
