// Owns the settings of the server: one schema from which flags, environment names and the config
// file all follow. Strength: flag > environment > file > default. The schema refuses what cannot
// work together, with one line each.

import { z } from "zod";

/** Environment and flags give text; anything that is not a number in digits stays what it is. */
function digits<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (value) =>
      typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : value,
    schema,
  );
}

const milliseconds = digits(
  z
    .number()
    .int()
    .min(0)
    .max(2 ** 31 - 1),
);
/** Longer than a timer can be: looked at now and then. */
const duration = digits(z.number().int().min(0).max(Number.MAX_SAFE_INTEGER));
const DAY_MS = 24 * 60 * 60_000;
const count = digits(z.number().int().min(1).max(1_000_000_000));
const flag = z.preprocess((value) => {
  if (value === "true" || value === "1" || value === "") return true;
  if (value === "false" || value === "0") return false;
  return value;
}, z.boolean());
const list = z.preprocess(
  (value) => (typeof value === "string" ? value.split(",").filter((part) => part !== "") : value),
  z.array(z.string().min(1)),
);
const address = z
  .string()
  .regex(/^(\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$|^unix:.+$/, "wants host:port or unix:/path");

/** Every setting; the names are those of the config file, `--kebab-case` and `AGENTTX_SNAKE_CASE`. */
export const settingsSchema = z.strictObject({
  dataDir: z.string().min(1).default(".agenttx").describe("Directory of the database"),
  listen: address.default("127.0.0.1:7878").describe("gRPC address"),
  httpListen: address
    .or(z.literal("off"))
    .default("127.0.0.1:7879")
    .describe("HTTP address, or off"),
  syncWrites: flag.default(false).describe("Fsync every acknowledged batch"),
  insecure: flag.default(false).describe("Allow a public address without TLS and tokens"),
  tlsCert: z.string().optional().describe("PEM certificate chain"),
  tlsKey: z.string().optional().describe("PEM private key"),
  tlsClientCa: z.string().optional().describe("PEM authority of client certificates (mutual TLS)"),
  tokensFile: z.string().optional().describe("File of token hashes; read again when it changes"),
  tools: list.default([]).describe("Modules that export tools"),
  requireCertified: flag
    .default(false)
    .describe("Refuse reversible tools of modules that the adapter suite has not passed"),
  trust: list
    .default([])
    .describe("Reversible tools that need no certificate, by name; implies --require-certified"),
  tablesFile: z.string().optional().describe("JSON file with the tables of the record tools"),
  fsRoot: z.string().optional().describe("Root of the built-in fs tools; off without it"),
  effectSink: z.string().optional().describe("JSON Lines file of effect.stage; off without it"),
  maxLocalDepth: digits(z.number().int().min(0).max(16)).default(2).describe("Policy default"),
  maxGlobalResets: digits(z.number().int().min(0).max(16)).default(1).describe("Policy default"),
  replayBudgetFactor: digits(z.number().min(0.1).max(1_000)).default(2).describe("Policy default"),
  retentionMs: duration
    .default(7 * DAY_MS)
    .describe("Terminal records, answers and settled effects are kept; 0 = for ever"),
  auditRetentionMs: duration.default(365 * DAY_MS).describe("Audit chains are kept; 0 = for ever"),
  idleTimeoutMs: milliseconds
    .default(15 * 60_000)
    .describe("Idle transactions are aborted; 0 = never"),
  lifetimeMaxMs: milliseconds.default(0).describe("Longest life of a transaction; 0 = no limit"),
  deadlineDefaultMs: milliseconds
    .default(60_000)
    .describe("Deadline of calls that give none; 0 = none"),
  remoteDeadlineMs: milliseconds
    .default(300_000)
    .describe("A prepared step without CompleteStep is indeterminate after this"),
  drainTimeoutMs: milliseconds.default(10_000).describe("Wait for steps in flight when stopping"),
  resume: flag
    .default(true)
    .describe("After a crash, go on with transactions whose effects are settled"),
  openTransactionsMax: count.default(10_000).describe("Open transactions per tenant"),
  sessionsMax: count
    .default(1_000)
    .describe("Open streams per tenant: sessions, watchers, workers"),
  inFlightMax: count.default(256).describe("Requests at a time per session stream"),
  requestsPerSecond: digits(z.number().min(0).max(1_000_000))
    .default(0)
    .describe("Rate per tenant; 0 = no limit"),
  messageBytesMax: count.default(4 * 1024 * 1024).describe("Largest message"),
  freeSpaceReserveBytes: digits(z.number().int().min(0))
    .default(64 * 1024 * 1024)
    .describe("Below this free space new work is refused"),
  reflection: flag.optional().describe("gRPC reflection; default: only on loopback"),
  logLevel: z
    .enum(["trace", "debug", "info", "warn", "error", "silent"])
    .default("info")
    .describe("Least level that is logged"),
});

export type Settings = z.infer<typeof settingsSchema>;
export type SettingName = keyof Settings;
export const SETTING_NAMES = Object.keys(settingsSchema.shape) as SettingName[];

/** `dataDir` -> `--data-dir`. */
export function flagName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** `dataDir` -> `AGENTTX_DATA_DIR`. */
export function environmentName(name: string): string {
  return `AGENTTX_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** `dataDir` -> `data_dir`, the name in agenttx.toml. */
export function fileName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export interface SettingFacts {
  readonly name: SettingName;
  readonly flag: string;
  readonly environment: string;
  readonly file: string;
  /** `switch`: on or off; `list`: several, separated by commas. */
  readonly kind: "switch" | "list" | "value";
  readonly description: string;
  /** undefined: off, or another default that the description tells. */
  readonly fallback: Settings[SettingName];
}

/** What help, documents and `agenttx config` say about each setting. */
export function settingFacts(): readonly SettingFacts[] {
  const defaults = settingsSchema.parse({});
  return SETTING_NAMES.map((name) => {
    const field = settingsSchema.shape[name];
    return {
      name,
      flag: flagName(name),
      environment: environmentName(name),
      file: fileName(name),
      kind: kindOf(field.safeParse("true").data),
      description: field.description ?? "",
      fallback: defaults[name],
    };
  });
}

/** A switch reads "true" as true, a list as one entry. */
function kindOf(read: unknown): SettingFacts["kind"] {
  if (typeof read === "boolean") return "switch";
  return Array.isArray(read) ? "list" : "value";
}
