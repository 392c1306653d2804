// Owns what people read about a failed undo, lookup or delivery: one line, bounded.

const TEXT_MAX = 300;

/** The error's first line with its class name. For records and logs, never for a prompt. */
export function problemText(error: unknown): string {
  const name = error instanceof Error && error.name !== "Error" ? `${error.name}: ` : "";
  const message = error instanceof Error ? error.message : describe(error);
  const line = `${name}${message}`.split(/[\r\n]/, 1)[0] ?? "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
  const plain = line.replace(/[\u0000-\u001f\u007f]/g, " ").trim();
  const shown = plain === "" ? "It failed without a message." : plain;
  return shown.length > TEXT_MAX ? `${shown.slice(0, TEXT_MAX)}…` : shown;
}

function describe(error: unknown): string {
  return typeof error === "string" ? error : `It threw a ${typeof error}.`;
}
