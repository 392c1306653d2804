// Owns what went wrong in a step before it is cleaned: an error of the tool, or the engine's own
// finding, which is a hint already.
import { type CleanHint, type HintCategory, limits } from "@agenttx/model";

/** The error of a tool or schema (to be cleaned), or a hint that the engine made itself. */
export type FailureCause = { readonly error: unknown } | { readonly hint: CleanHint };

const SENTENCES = {
  unresolved_reference: ["{key} refers to something that does not exist.", "A reference is wrong."],
  unknown_tool: ["The tool does not exist; use one of the tools offered.", ""],
  syntax_error: ["The arguments are not valid JSON.", ""],
  payload_too_large: ["{key} is too large; send less.", "The payload is too large; send less."],
  invalid_value: ["{key} is not accepted.", "A value was not accepted."],
  timeout: ["The call took too long and was stopped; the same call may work later.", ""],
  type_mismatch: ["{key} has the wrong type.", "A value has the wrong type."],
} as const satisfies Partial<Record<HintCategory, readonly [string, string]>>;

// A key is shown to the model, so it must look like a name or path and like nothing else (H6).
const KEY = /^[A-Za-z_$][\w$-]*(?:\.[A-Za-z_$][\w$-]*|\[\d{1,9}\])*$/;

/** A hint with a fixed sentence; a key that does not look like one is left out (H2, H3). */
export function ownHint(
  category: keyof typeof SENTENCES,
  rule: string,
  key: string | null = null,
): FailureCause {
  const shown = key !== null && key.length <= limits.HINT_KEY_MAX && KEY.test(key) ? key : null;
  const [named, unnamed] = SENTENCES[category];
  const sentence = shown !== null || unnamed === "" ? named.replace("{key}", shown ?? "") : unnamed;
  return {
    hint: {
      text: `Hint: ${sentence}`,
      category,
      key: shown,
      keys: shown === null ? [] : [shown],
      rule,
      retryable: category === "timeout",
      retryAfterMs: null,
      detail: null,
    },
  };
}
