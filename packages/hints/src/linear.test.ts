// Goal: no rule costs more than linear time (H4). Method: texts made of each rule's own literal and
// of the characters that patterns stumble over, at n and 4n characters; processor time is compared,
// not wall time, so that other work on the machine does not count.

import { describe, expect, it } from "vitest";
import { cleanError } from "./clean-error.js";
import { TEXT_CHARS_MAX } from "./normalise.js";
import { rules } from "./rules/index.js";

const RULES = rules();

const N = TEXT_CHARS_MAX / 4;

function fill(unit: string, length: number): string {
  return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
}

function cpuMs(text: string, rounds: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const start = process.cpuUsage();
    cleanError(text);
    const used = process.cpuUsage(start);
    best = Math.min(best, (used.user + used.system) / 1000);
  }
  return best;
}

describe("cost of hostile texts", () => {
  it("grows linearly with a text made of any rule's literal", { timeout: 300_000 }, () => {
    const families = new Map<string, { small: number; large: number }>();
    for (const literal of new Set(RULES.map((rule) => rule.literal))) {
      const rule = RULES.find((candidate) => candidate.literal === literal);
      const family = rule?.name.split("/")[0] ?? "";
      const sum = families.get(family) ?? { small: 0, large: 0 };
      sum.small += cpuMs(fill(`${literal} "a`, N), 1);
      sum.large += cpuMs(fill(`${literal} "a`, 4 * N), 1);
      families.set(family, sum);
    }
    for (const [family, { small, large }] of families) {
      expect(large, family).toBeLessThan(8 * small + 50);
    }
  });

  it.each([
    "a",
    "(",
    ")",
    '"',
    "'",
    "`",
    "[",
    "{",
    "[{",
    '{"a":',
    "{a:",
    "[[",
    "\\",
    "\n",
    "\t",
    " ",
    ":",
    ",",
    "a.",
    "a: ",
    "a_1-",
    "x=1;",
    '"a" ',
    "(a)=(",
    ")=(",
    "1",
    "-",
    "/",
    "@",
    "a@b.",
    "://",
    "http://a ",
    "token=",
    "'a b'",
    '"\\',
    "Error: ",
    "Error:\n",
    "aA1",
    "Caused by: \n",
    " ---> ",
    "\tat a(b)\n",
    "    at a\n",
    '  File "a"\n',
    "\u001b[",
    "\u001b]",
    "%",
    "=>",
    "+ '",
    "'a' + ",
    "During handling of the above exception, another exception occurred:\n",
    "a b is required, ",
    "validation errors for A\na\n  b [type=c",
    "HTTP/1.1 400 a\n\n",
    "\ud83d\ude00",
    "不存在",
    " is required",
  ])("grows linearly for %j", (unit) => {
    const small = cpuMs(fill(unit, N), 3);
    const large = cpuMs(fill(unit, 4 * N), 3);
    expect(large).toBeLessThan(8 * small + 20);
  });
});
