// Owns the parts of the documents that are made from the code: docs/openapi.json, and the table of
// settings in docs/server.md. Tests hold the committed files against these functions.
import { openApiDocument, settingFacts, VERSION } from "@agenttx/server";

/** The text of docs/openapi.json. */
export function openApiText() {
  return `${JSON.stringify(openApiDocument(VERSION), null, 2)}\n`;
}

/** The table of settings, Markdown, with aligned columns. */
export function settingsTable() {
  const head = ["flag", "environment", "file", "default", "meaning"];
  const rows = settingFacts().map(({ flag, environment, file, fallback, description, kind }) => [
    `\`${flag}\``,
    `\`${environment}\``,
    `\`${file}\``,
    defaultText(fallback, kind),
    description.replaceAll("|", "\\|"),
  ]);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column].length)),
  );
  const line = (cells) => `| ${cells.map((cell, at) => cell.padEnd(widths[at])).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}

function defaultText(fallback, kind) {
  if (fallback === undefined || (kind === "list" && fallback.length === 0)) return "";
  return `\`${fallback}\``;
}

/** `text` with what stands between the two marks replaced. */
export function between(text, mark, part) {
  const [begin, end] = [`<!-- ${mark}: begin -->`, `<!-- ${mark}: end -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the marks of ${mark} are missing`);
  return `${text.slice(0, from + begin.length)}\n\n${part}\n\n${text.slice(to)}`;
}
