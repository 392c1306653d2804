// Owns the shape of a stack trace: which lines are frames, where one exception ends and its cause
// begins. Invariants: S1 a line is copied at most twice. S2 the group of the exception that escaped
// comes first, and inside a group the deepest cause.

const MARKER = /^\s{0,12}(?:\[cause\]: |\[errors\]: |Caused by:|---> ?|Suppressed: )/;
const MARK_INLINE = /\s--->\s|\s\[cause\]:\s/;
const ESCAPED = "During handling of the above exception, another exception occurred:";
const DIRECT = "The above exception was the direct cause of the following exception:";
const NEXT = /^Next \S{1,200}(?:Exception|Error|: )/;

/** One printed exception with the causes printed below it. */
interface Block {
  readonly outer: string[][];
  current: string[];
  /** True while indented lines belong to a Python source excerpt. */
  traceback: boolean;
}

interface Reading {
  readonly groups: string[][];
  /** Finished texts of this group, deepest cause first. */
  chain: string[];
  block: Block;
}

/**
 * Splits a text into the exceptions it tells of, without their frames. Each group is a chain of
 * causes; a later group tells only what was handled before the exception that escaped.
 */
export function segmentsOf(text: string): readonly (readonly string[])[] {
  if (!text.includes("\n") && !MARK_INLINE.test(text)) return [[text]];
  const reading: Reading = { groups: [], chain: [], block: emptyBlock() };
  let at = 0;
  while (at <= text.length) {
    const found = text.indexOf("\n", at);
    const end = found === -1 ? text.length : found;
    if (!isFrame(text, at, end, reading.block)) takeLine(text.slice(at, end), reading);
    at = end + 1;
  }
  closeBlock(reading);
  return [reading.chain, ...reading.groups];
}

function takeLine(line: string, reading: Reading): void {
  const { block } = reading;
  if (line.startsWith("Traceback (most recent call last)")) block.traceback = true;
  else if (line.trimEnd() === ESCAPED) {
    closeBlock(reading);
    reading.groups.unshift(reading.chain);
    reading.chain = [];
  } else if (line.trimEnd() === DIRECT) closeBlock(reading);
  else if (NEXT.test(line)) {
    closeBlock(reading);
    reading.block.current.push(line);
  } else if (MARKER.test(line)) openCause(block, line.replace(MARKER, ""));
  else takeWords(block, line);
}

function takeWords(block: Block, line: string): void {
  const inline = line.includes("--->") || line.includes("[cause]") ? MARK_INLINE.exec(line) : null;
  if (inline === null) {
    block.current.push(line);
    return;
  }
  block.current.push(line.slice(0, inline.index));
  openCause(block, line.slice(inline.index + inline[0].length));
}

function openCause(block: Block, line: string): void {
  block.outer.push(block.current);
  block.current = [line];
  block.traceback = false;
}

// What was printed before ("direct cause", PHP's "Next") is deeper than what follows.
function closeBlock(reading: Reading): void {
  const { outer, current } = reading.block;
  for (const lines of [...outer, current].reverse()) {
    const text = lines.join("\n");
    if (text.trim() !== "") reading.chain.push(text);
  }
  reading.block = emptyBlock();
}

function emptyBlock(): Block {
  return { outer: [], current: [], traceback: false };
}

function isFrame(text: string, at: number, end: number, block: Block): boolean {
  const first = text.charCodeAt(at);
  if (first === 35) return /^#\d{1,3} [/[{A-Za-z]/.test(text.slice(at, Math.min(end, at + 8)));
  if ((first !== 32 && first !== 9) || at === end) {
    if (at !== end) block.traceback = false;
    return false;
  }
  let index = at + 1;
  while (index < end && (text.charCodeAt(index) === 32 || text.charCodeAt(index) === 9)) index++;
  if (index === end) return false;
  if (text.startsWith("at ", index)) {
    return !text.startsWith("at [", index) && !isAtField(text, index + 3, end);
  }
  if (text.startsWith('File "', index)) {
    block.traceback = true;
    return true;
  }
  if (block.traceback) return !text.startsWith("Traceback", index);
  return isPlace(text.slice(index, Math.min(end, index + 240)));
}

// zod prints "at items[0].qty" below a message; a frame names a method or a line number.
function isAtField(text: string, from: number, end: number): boolean {
  if (text.charCodeAt(end - 1) === 41) return false;
  return !/[(:<\s]/.test(text.slice(from, Math.min(end, from + 200)).trim());
}

// "... 61 more", a path with a line number (Go, Ruby), a numbered function (Rust).
function isPlace(line: string): boolean {
  const code = line.charCodeAt(0);
  if (code === 46) return /^\.\.\. \d{1,6} |^\.{1,2}\/\S{1,200}:\d{1,7}/.test(line);
  if (code === 47) return /^\/\S{1,200}:\d{1,7}/.test(line);
  if (code >= 48 && code <= 57) return /^\d{1,4}: [\w<]{1,80}::/.test(line);
  return /^(?:\([\w .]{1,40}\) )?[\w./-]{1,120}\.(?:rb|go|exs?|rs|php):\d{1,7}/.test(line);
}
