// Goal: what goes to people and logs holds no secret and nothing that a terminal obeys (H6).
import { describe, expect, it } from "vitest";
import { DETAIL_CHARS_MAX, redact, redactSecrets } from "./redact.js";

const SECRETS = [
  "postgres://admin:s3cretpw@db:5432/x",
  "ann.lee@example.com",
  "Bearer s3cretpw",
  "basic s3cretpw==",
  "password=s3cretpw",
  'api_key: "s3cretpw"',
  "x-session-id: s3cretpw",
  "sk-s3cretpw",
  "ghp_s3cretpw",
  "eyJs3cretpw.s3cretpw",
  "AKIAS3CRETPW1234",
];
const VALUES = [
  "Key (id)=(s3cretpw)",
  "input_value='s3cretpw'",
  "row contains (s3cretpw, 1)",
  "order 99887766s3cretpw",
  "id 01a22fc6-s3cretpw",
  "card 4111111111111111",
  '"a sentence of s3cretpw"',
];
const LEAKS = /s3cretpw|lee@|4111/i;

describe("redact", () => {
  it.each([...SECRETS, ...VALUES])("masks %s and keeps the words around it", (secret) => {
    const text = redact(`before ${secret} ${VALUES.includes(secret) ? "" : "after"}`);
    expect(text).not.toMatch(LEAKS);
    expect(text).toMatch(/^before .*\[…\]/);
    if (!VALUES.includes(secret)) expect(text).toContain("after");
  });

  it("keeps names of fields and classes, and small numbers", () => {
    const text = 'TypeError: column "ship_to" of relation orders, line 12 of 200';
    expect(redact(text)).toBe(text);
  });

  it("is one line of at most 300 characters, cut between characters", () => {
    expect(redact(`  a\n\tb\u2028c  d `)).toBe("a b c d");
    const long = redact("ab ".repeat(200));
    expect([long.length, long.at(-1)]).toEqual([DETAIL_CHARS_MAX, "…"]);
    const cut = redact(`${"a ".repeat(149)}😀 and more`);
    expect(cut.endsWith(" …")).toBe(true);
    expect(redact("a ".repeat(150)).length).toBe(299);
  });

  it("drops what a terminal obeys and what nobody sees", () => {
    const hidden =
      "\u0000\u0007\u001b\u007f\u009b\u00ad\u061c\u200b\u200f\u202e\u2060\u2066\ufe0f\ufeff";
    expect(redact(`a${hidden}\u{e0041}\u{e0101}\ud800b`)).toBe("ab");
  });
});

describe("redactSecrets", () => {
  it.each(SECRETS)("masks %s", (secret) => {
    expect(redactSecrets(`a ${secret} b`)).not.toMatch(LEAKS);
  });

  it("keeps versions and other values", () => {
    const text = 'etag "33a64df551425fcc", 4096 bytes, row 01a22fc6-cc6e';
    expect(redactSecrets(text)).toBe(text);
  });
});
