// Owns readers that look behind a database message for the columns it blames.
// Invariants: B1 a name is taken from the place where the server prints columns, never from the
// name of a constraint, index or table. B2 each reader looks at most WINDOW characters ahead.

import type { Reader } from "../rule.js";

const WINDOW = 1200;
const KEY_WORD =
  /(?:key|schlüssel|clé|llave|clave|chave|chiave|ключа?|キー|键|键值|鍵|키|nyckeln?|klucz|klíč|anahtar|(?:detail|상세정보|세부정보):\s?)\s?["'«»„“”‘]?\s?$/i;

/** PostgreSQL, all languages: `Key (a, b)=(…)`; what stands inside the values is not read. */
export const readDetailKey: Reader = (text, _start, end) => {
  const limit = Math.min(text.length, end + WINDOW);
  const close = text.indexOf(")=(", end);
  if (close === -1 || close > limit) return { names: [] };
  const open = openingBefore(text, close, end);
  if (open === -1 || !KEY_WORD.test(text.slice(Math.max(end, open - 16), open)))
    return { names: [] };
  return { names: columnsOf(text.slice(open + 1, close)) };
};

// The bracket that belongs to the closing one; expressions such as lower(email) nest.
function openingBefore(text: string, close: number, floor: number): number {
  let depth = 0;
  for (let index = close; index >= Math.max(floor, close - 400); index--) {
    const code = text.charCodeAt(index);
    if (code === 41) depth++;
    else if (code === 40 && --depth === 0) return index;
  }
  return -1;
}

function columnsOf(list: string): string[] {
  const expression = /^\w{1,64}\(\(?"?([A-Za-z_]\w{0,62})"?\)?(?:::[\w ]{1,40})?\)$/.exec(list);
  if (expression?.[1] !== undefined) return [expression[1]];
  return list.split(", ").map((name) => name.replace(/::[\w ]{1,40}$/, ""));
}

/** PostgreSQL: `CONTEXT: COPY t, line 3, column qty: …`, the last one, as the value comes first. */
export const readCopyColumn: Reader = (text, _start, end) => {
  const window = text.slice(end, end + WINDOW);
  const at = window.lastIndexOf("\nCONTEXT:");
  if (at === -1) return { names: [] };
  const name = /^\nCONTEXT:\s{1,4}COPY \S{1,128}, line \d{1,20}, column ([^\s:,"']{1,128})/.exec(
    window.slice(at, at + 400),
  )?.[1];
  return { names: name === undefined ? [] : [name] };
};

/** MySQL: the columns in `FOREIGN KEY (…)`; the referenced ones come later and are not read. */
export const readForeignKey: Reader = (text, _start, end) => {
  const window = text.slice(end, end + WINDOW);
  const columns = /FOREIGN KEY \(([^()\n]{1,400})\) REFERENCES/.exec(window)?.[1];
  if (columns === undefined) return { names: [] };
  return { names: columns.split(",").map((name) => name.replace(/[`\\"]/g, "")) };
};

/** A list of qualified columns up to the end of the line: `orders.customer_id, orders.sku`. */
export const readColumns: Reader = (text, _start, end) => {
  const line = /^[ ]?([\w$. ,`"[\]À-￿]{1,400})/.exec(text.slice(end, end + 400))?.[1] ?? "";
  const names = line.split(/,\s?/).map((name) => name.trim());
  if (!names.every((name) => /^\S+$/.test(name))) return { names: [] };
  return { names: names.map((name) => name.replace(/^.*\./, "").replace(/[`"[\]]/g, "")) };
};

/** MongoDB: the field names of `dup key: { a: 1, b: "x" }`; the old form has none. */
export const readDuplicateKey: Reader = (text, _start, end) => {
  const from = text.indexOf("dup key: {", end);
  if (from === -1 || from > end + WINDOW) return { names: [] };
  return { names: fieldsOf(text.slice(from + 10, from + 10 + WINDOW)) };
};

// Reads names at the top level and jumps over values, quoted ones included.
function fieldsOf(object: string): string[] {
  const names: string[] = [];
  const name = /\s{0,8}["']?([A-Za-z_$][\w$.]{0,127})["']?\s{0,2}:\s{0,2}/y;
  const value = /(?:"(?:[^"\\]|\\.){0,800}"|'(?:[^'\\]|\\.){0,800}'|[^,"'{}[\]]){0,200}/y;
  let at = 0;
  while (names.length < 32) {
    name.lastIndex = at;
    const found = name.exec(object)?.[1];
    if (found === undefined) return names;
    names.push(found);
    value.lastIndex = name.lastIndex;
    value.exec(object);
    at = value.lastIndex;
    if (object[at] !== ",") return names;
    at++;
  }
  return names;
}
