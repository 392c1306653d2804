// Owns the log: JSON lines on stderr, with secrets redacted by name wherever they stand.

import { destination, type Logger, pino } from "pino";

const SECRET_PATHS = [
  "token",
  "authorization",
  "*.token",
  "*.authorization",
  "*.password",
  "*.secret",
];

export function makeLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      redact: { paths: SECRET_PATHS, censor: "[redacted]" },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    // Synchronous: what was logged before a crash is there after it.
    destination({ fd: 2, sync: true }),
  );
}
