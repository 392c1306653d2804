// Owns what the command writes and where: data on stdout, everything else on stderr.
//
//   O1 With --json stdout is JSON and nothing else, also when a command fails: then it is one object
//      with `error`. The line for people goes to stderr in both cases.
//   O2 No escape codes unless the stream is a terminal that wants them (NO_COLOR, FORCE_COLOR).
//   O3 Text that comes from a store or a plan cannot move the cursor or hide itself: control and
//      invisible characters are shown as `?`, and escaped in JSON. What a command forgot is caught
//      on the way out.
//   O4 A closed pipe (`agenttx list | head -1`) ends the output, not with an error.

import { styleText } from "node:util";
import { isAgentTxError } from "@agenttx/model";
import { exitCodeOf } from "./exit-codes.js";

/** Version of every JSON document this command prints; a breaking change raises it. */
export const API_VERSION = "agenttx.cli/v1";

export interface OutputOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** False: no colours, whatever the terminal says. Default true. */
  readonly colour?: boolean;
}

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";
/** Colours a text, or returns it as it is. */
export type Paint = (style: Style, text: string) => string;

export interface Output extends OutputOptions {
  readonly paint: Paint;
  /** A line of the answer for people; nothing with --json. */
  line(text?: string): void;
  /** One JSON document or JSON line; nothing without --json. */
  data(value: unknown): void;
  /** A remark on stderr; nothing with --quiet. */
  note(text: string): void;
  /** Reports a failure and returns the exit code that belongs to it. */
  failure(error: unknown): number;
}

/** The output of one run of the command. */
export function createOutput(options: OutputOptions): Output {
  ignoreClosedPipe(process.stdout);
  ignoreClosedPipe(process.stderr);
  const print = (stream: NodeJS.WriteStream, text: string) => {
    stream.write(`${printableLines(text)}\n`);
  };
  const printJson = (value: unknown) => {
    process.stdout.write(`${jsonText(value)}\n`);
  };
  return {
    ...options,
    paint: options.colour === false ? (_style, text) => text : painter(process.stdout),
    line: (text = "") => {
      if (!options.json) print(process.stdout, text);
    },
    data: (value) => {
      if (options.json) printJson(value);
    },
    note: (text) => {
      if (!options.quiet) print(process.stderr, text);
    },
    failure: (error) => {
      const { code, message, details } = describe(error);
      const exitCode = exitCodeOf(error);
      if (options.json) {
        const body = { code, message: printable(message), details };
        printJson({ apiVersion: API_VERSION, type: "error", error: body, exitCode });
      }
      for (const line of linesOf(message, details)) {
        print(process.stderr, `agenttx: ${code}: ${printable(line)}`);
      }
      if (options.verbose) print(process.stderr, stackOf(error));
      return exitCode;
    },
  };
}

/** Paints for this stream: colours on a terminal, NO_COLOR and FORCE_COLOR are honoured. */
export function painter(stream: NodeJS.WriteStream): Paint {
  const forced = process.env.FORCE_COLOR;
  const colours =
    forced !== undefined && forced !== ""
      ? forced !== "0" && forced !== "false"
      : stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  if (!colours) return (_style, text) => text;
  return (style, text) => styleText(style, text, { validateStream: false });
}

/** What a terminal obeys and what nobody sees: controls, direction and zero-width marks, tags. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The text on one line without control characters (O3). */
export function printable(text: string): string {
  return text.replace(/\r?\n/g, " ").replace(UNPRINTABLE, "?");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the colours that a command paints with
const COLOUR = /(\u001b\[\d{1,2}m)/;

/** Lines as a command made them, with its colours; any other control character is shown as `?`. */
function printableLines(text: string): string {
  return text
    .split("\n")
    .map((line) =>
      line
        .split(COLOUR)
        .map((part, index) => (index % 2 === 1 ? part : part.replace(UNPRINTABLE, "?")))
        .join(""),
    )
    .join("\n");
}

/** JSON in which nothing moves a cursor: what is not printable is escaped. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, jsonValue).replace(UNPRINTABLE, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

function describe(error: unknown): { code: string; message: string; details: object } {
  if (isAgentTxError(error)) {
    return { code: error.code, message: error.message, details: error.details };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: "INTERNAL", message: message === "" ? "unknown failure" : message, details: {} };
}

/** Several problems at once, as of settings or a plan, are a line each, with the file they are in. */
function linesOf(message: string, details: object): readonly string[] {
  const problems = "problems" in details ? details.problems : null;
  if (!Array.isArray(problems) || problems.length === 0) return [message];
  const source = "source" in details ? `${String(details.source)}: ` : "";
  return problems.map((problem) => `${source}${String(problem)}`);
}

/** Stack and causes, for --verbose only. */
function stackOf(error: unknown): string {
  const lines: string[] = [];
  for (let current: unknown = error; current !== undefined && lines.length < 8; ) {
    lines.push(current instanceof Error ? (current.stack ?? current.message) : String(current));
    current = current instanceof Error ? current.cause : undefined;
  }
  return lines.join("\ncaused by: ");
}

function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return value;
}

export function ignoreClosedPipe(stream: NodeJS.WriteStream): void {
  if (stream.listenerCount("error") > 0) return;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}
