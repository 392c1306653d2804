// Owns the reading of object notation inside text: JSON, JavaScript's inspect, Python's repr and
// Ruby's hashes, also when cut off at the end.
// Invariants: O1 one pass, no backtracking: linear. O2 never throws; null when it is no structure.

import { DEPTH_MAX, type Plain } from "./plain.js";

/** A structure and the position behind it. */
export interface Parsed {
  readonly value: Plain;
  readonly end: number;
}

const WORDS: Readonly<Record<string, Plain>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  null: null,
  None: null,
  nil: null,
  undefined: null,
  NaN: null,
};
const ENTRIES_MAX = 1000;
const NAME = /:?([A-Za-z_$@[][\w$@.\-\]]{0,120})/y;
const BARE = /[^,{}[\]"'`\n]{1,300}/y;

class NotAStructure extends Error {}

/** Reads the structure that starts at `start` with a bracket; null when it is none. */
export function parseNotation(text: string, start: number): Parsed | null {
  const cursor = new Cursor(text, start);
  try {
    const value = cursor.value(0);
    return { value, end: cursor.at };
  } catch (error) {
    if (error instanceof NotAStructure) return null;
    throw error;
  }
}

class Cursor {
  #entries = 0;

  constructor(
    readonly text: string,
    public at: number,
  ) {}

  value(depth: number): Plain {
    if (depth > DEPTH_MAX * 3 || ++this.#entries > ENTRIES_MAX) throw new NotAStructure();
    this.#space();
    const code = this.text.charCodeAt(this.at);
    if (code === 123) return this.#object(depth);
    if (code === 91) return this.#list(depth);
    if (code === 40) return this.#list(depth);
    if (isQuote(code)) return this.#strings();
    return this.#bare(depth);
  }

  #object(depth: number): Plain {
    const object: Record<string, Plain> = Object.create(null);
    this.at++;
    for (;;) {
      this.#space();
      if (this.#done("}")) return object;
      const name = this.#name();
      this.#space();
      if (this.text[this.at] === ":") this.at++;
      else if (this.text.startsWith("=>", this.at)) this.at += 2;
      else if (this.text[this.at] === "=") this.at++;
      else if (this.at >= this.text.length) return object;
      else throw new NotAStructure();
      object[name] = this.value(depth + 1);
      this.#space();
      this.#separator("}");
    }
  }

  #list(depth: number): Plain {
    const items: Plain[] = [];
    const close = this.text[this.at] === "(" ? ")" : "]";
    this.at++;
    for (;;) {
      this.#space();
      if (this.#done(close)) return items;
      items.push(this.value(depth + 1));
      this.#space();
      this.#separator(close);
    }
  }

  #separator(close: string): void {
    const next = this.text[this.at];
    if (next === ",") this.at++;
    else if (next !== close && this.at < this.text.length) throw new NotAStructure();
  }

  // The end of the text closes everything: the tail was cut off.
  #done(close: string): boolean {
    if (this.at >= this.text.length) return true;
    if (this.text[this.at] !== close) return false;
    this.at++;
    return true;
  }

  #name(): string {
    if (isQuote(this.text.charCodeAt(this.at))) return this.#string();
    NAME.lastIndex = this.at;
    const name = NAME.exec(this.text)?.[1];
    if (name === undefined) throw new NotAStructure();
    this.at = NAME.lastIndex;
    return name;
  }

  // Node prints long strings in pieces: 'a' + 'b'.
  #strings(): string {
    let text = this.#string();
    for (;;) {
      const before = this.at;
      this.#space();
      if (this.text[this.at] !== "+") {
        this.at = before;
        return text;
      }
      this.at++;
      this.#space();
      if (!isQuote(this.text.charCodeAt(this.at))) throw new NotAStructure();
      text += this.#string();
    }
  }

  #string(): string {
    const quote = this.text.charCodeAt(this.at);
    const start = ++this.at;
    let escaped = false;
    while (this.at < this.text.length) {
      const code = this.text.charCodeAt(this.at++);
      if (code === 92) {
        escaped = true;
        this.at++;
      } else if (code === quote) return plainString(this.text.slice(start, this.at - 1), escaped);
    }
    return plainString(this.text.slice(start), escaped);
  }

  // Numbers, words, and printed objects such as ObjectId('…'), [Object] or Map(0) {}.
  #bare(depth: number): Plain {
    BARE.lastIndex = this.at;
    const word = BARE.exec(this.text)?.[0].trimEnd() ?? "";
    if (word === "") throw new NotAStructure();
    this.at += word.length;
    this.#space();
    const next = this.text[this.at];
    if (next === "{") return this.#object(depth + 1);
    if (next === "[" && /[\w)]$/.test(word) && !word.includes(" ")) return this.#list(depth + 1);
    if (next === "'" || next === '"' || next === "`") {
      this.#string();
      BARE.lastIndex = this.at;
      this.at += BARE.exec(this.text)?.[0].length ?? 0;
      return null;
    }
    if (Object.hasOwn(WORDS, word)) return WORDS[word] ?? null;
    return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(word) ? Number(word) : word;
  }

  #space(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 9) return;
      this.at++;
    }
  }
}

function isQuote(code: number): boolean {
  return code === 34 || code === 39 || code === 96;
}

function plainString(text: string, escaped: boolean): string {
  if (!escaped) return text;
  return text.replace(/\\(u[0-9a-fA-F]{4}|[\s\S])/g, (_all, code: string) => {
    if (code.length === 5) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return ESCAPES[code] ?? code;
  });
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\n", b: " ", f: " " };
