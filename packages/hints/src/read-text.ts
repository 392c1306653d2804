// Owns the reading of a text: its segments, what rules find there, and codes as a second choice.

import type { Finding } from "./finding.js";
import { better, finding } from "./finding.js";
import { matchText } from "./match-text.js";
import { sqlStateIn } from "./rules/sqlstate.js";
import { segmentsOf } from "./segments.js";
import { categoryOfCode } from "./structure/category-of-code.js";

const CODE_WINDOW = 4000;
const CLASS =
  /^(?:[\w.$\\]{0,160}[.\\:])?([A-Z]\w{1,60}(?:Error|Exception|Failure|Fault|Timeout|NotFound|Violation|Denied|Invalid|Warning|Interrupt|Iteration))(?=[:\s(\])]|$)/m;
const PRINTED_CODE =
  /An error occurred \((\w{3,60})\)|<Code>(\w{3,60})<\/Code>|(?:^|\s)code: ['"](\w{3,60})['"]|\[(ERR_\w{3,60})\]|Error from server \((\w{3,40})\)/;

/** The groups of segments of a text, as segmentsOf makes them. */
export type Groups = readonly (readonly string[])[];

/** What a text says about a failure; null when nothing in it is known. */
export function readText(text: string): Finding | null {
  return readGroups(segmentsOf(text)).found;
}

/** Same for split text, with the position of the words in their segment (-1: a code). */
export function readGroups(groups: Groups): { found: Finding | null; position: number } {
  for (const group of groups) {
    let found: Finding | null = null;
    let position = -1;
    for (const segment of group) {
      const match = matchText(segment);
      const words = match?.found ?? null;
      const chosen = better(
        found,
        words?.strength === 1 ? words : better(words, readCodes(segment)),
      );
      if (chosen !== found) position = match?.position ?? -1;
      found = chosen;
      // Nothing outweighs a named field, and deeper causes come first.
      if (found !== null && found.keys.length > 0) break;
    }
    if (found !== null) return { found, position };
  }
  return { found: null, position: -1 };
}

function readCodes(segment: string): Finding | null {
  const text = segment.length > CODE_WINDOW ? segment.slice(0, CODE_WINDOW) : segment;
  let found = sqlStateIn(text);
  const printed = /occurred \(|<Code>|code: |\[ERR_|server \(/.test(text)
    ? PRINTED_CODE.exec(text)
    : null;
  if (printed !== null) {
    found = better(found, ofCode(printed.slice(1).find((part) => part !== undefined) ?? ""));
  }
  const name = CLASS.exec(text)?.[1];
  return name === undefined ? found : better(found, ofClass(name));
}

function ofCode(code: string): Finding | null {
  const meaning = categoryOfCode(code);
  if (meaning === null || meaning.category === "other") return null;
  return finding({ ...meaning, rule: `code/${meaning.category}` });
}

function ofClass(className: string): Finding {
  const meaning = categoryOfCode(className);
  if (meaning === null || meaning.category === "other") {
    return finding({ category: "other", rule: "class", strength: 4, className });
  }
  return finding({ ...meaning, rule: `class/${meaning.category}`, className });
}
