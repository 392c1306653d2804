// Owns the references `${inputs.NAME}` of a plan. They are replaced before anything runs; references
// to steps are the engine's.

import type { JsonValue } from "@agenttx/model";

const WHOLE = /^\$\{inputs\.([A-Za-z_][\w-]*)\}$/;
const INSIDE = /\$\{inputs\.([A-Za-z_][\w-]*)\}/g;

/**
 * A copy of a JSON value with its inputs filled in. A text that is one reference and nothing else
 * becomes the input with its type; inside a longer text it becomes text. Unknown names are appended
 * to `problems`.
 */
export function substituteInputs<T>(
  value: T,
  inputs: Readonly<Record<string, JsonValue>>,
  problems: string[],
): T {
  // The shape is kept; only texts change, so the type holds for JSON.
  return replace(value, inputs, problems) as T;
}

function replace(
  value: unknown,
  inputs: Readonly<Record<string, JsonValue>>,
  problems: string[],
): unknown {
  const known = (name: string): JsonValue => {
    if (Object.hasOwn(inputs, name)) return inputs[name] ?? null;
    problems.push(`inputs: \${inputs.${name}} is used but not declared`);
    return null;
  };
  if (typeof value === "string") {
    const whole = WHOLE.exec(value)?.[1];
    if (whole !== undefined) return known(whole);
    return value.replace(INSIDE, (_match, name: string) => String(known(name)));
  }
  if (Array.isArray(value)) return value.map((item) => replace(item, inputs, problems));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, replace(item, inputs, problems)]),
    );
  }
  return value;
}
