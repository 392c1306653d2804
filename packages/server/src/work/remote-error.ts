// Owns how the error of a remote tool is thrown here: text as text, a JSON object as the structure
// that it is, so that the hint finds the same field as if the tool had run here.

import { DefiniteFailure } from "@agenttx/model";

/** Fields with a meaning of their own on an error; the other side does not set them. */
const OURS: readonly string[] = ["message", "stack", "cause", "definite", "__proto__"];
const FIELDS_MAX = 32;

/** `definite`: certainly nothing happened (E2). */
export function remoteError(text: string, definite: boolean): Error {
  const structure = readObject(text);
  const message = typeof structure?.message === "string" ? structure.message : text;
  const error = definite ? new DefiniteFailure(message) : new Error(message);
  for (const [name, value] of Object.entries(structure ?? {}).slice(0, FIELDS_MAX)) {
    if (OURS.includes(name) || (definite && name === "name")) continue;
    Object.defineProperty(error, name, { value, enumerable: true });
  }
  return error;
}

function readObject(text: string): Readonly<Record<string, unknown>> | null {
  if (!text.startsWith("{")) return null;
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return null;
  }
}
