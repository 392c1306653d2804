// Owns the log: JSON lines on stderr, with secrets redacted by name wherever they stand. Of an error
// its class, code, stack and causes are kept and its words redacted; what else hangs on it, such as
// the headers of a request, is left out.

import { redactSecrets } from "@agenttx/hints";
import { destination, type Logger, pino } from "pino";

const DEBUG = pino.levels.values.debug ?? 20;

const SECRET_PATHS = [
  "token",
  "authorization",
  "*.token",
  "*.authorization",
  "*.password",
  "*.secret",
];

const CAUSES_MAX = 4;
const FRAMES_MAX = 30;

/** What of a thrown value may stand in the log. Never throws. */
export function errorForLog(thrown: unknown, depth = 0): unknown {
  try {
    if (!(thrown instanceof Error)) return redactSecrets(String(thrown));
    const { name, message, stack, cause } = thrown;
    const code = "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;
    const frames = (stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
    return {
      type: redactSecrets(name),
      message: redactSecrets(message),
      ...(code === undefined ? {} : { code: redactSecrets(code) }),
      stack: frames.slice(0, FRAMES_MAX).map(frameText).join("\n"),
      ...(cause === undefined || depth >= CAUSES_MAX
        ? {}
        : { cause: errorForLog(cause, depth + 1) }),
    };
  } catch {
    return "an error that cannot be read";
  }
}

/** Modules are named by URL, and a URL would be masked whole. */
function frameText(line: string): string {
  return redactSecrets(line.replace("file://", ""));
}

/** Whether debug lines are written. Asked with every step: the number is looked at, no list of names. */
export function wantsDebug(log: Logger): boolean {
  return log.levelVal <= DEBUG;
}

export function makeLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      serializers: { err: errorForLog },
      redact: { paths: SECRET_PATHS, censor: "[redacted]" },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    // Synchronous: what was logged before a crash is there after it.
    destination({ fd: 2, sync: true }),
  );
}
