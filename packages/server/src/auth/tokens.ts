// Owns the token file: hashes, scopes, tenants, expiry. It is read again when it changes, so that a
// removed or revoked token stops working without a restart. A file that became unreadable or
// ill-formed keeps the last good content and is reported; it never opens the door.
//
// Tokens are random (256 bits), so one SHA-256 is enough: there is nothing to guess by dictionary.
// Look-up is by hash; comparing hashes leaks nothing about the token.

import { createHash, randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { AgentTxError } from "@agenttx/model";
import { z } from "zod";
import { type Principal, SCOPES } from "./principal.js";

/** Names of tenants, and common names of certificates that stand for one. */
export const TENANT = /^[A-Za-z0-9._-]{1,64}$/;

const entrySchema = z.strictObject({
  name: z.string().min(1).max(128),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  tenant: z.string().regex(TENANT).or(z.literal("")).default(""),
  scopes: z
    .array(z.enum(["run", "operate", "read"]))
    .min(1)
    .default([...SCOPES]),
  tools: z.array(z.string().min(1)).nullable().default(null),
  expiresAt: z.iso.datetime({ offset: true }).nullable().default(null),
  revoked: z.boolean().default(false),
});
const fileSchema = z.strictObject({ tokens: z.array(entrySchema).max(10_000) });

export type TokenEntry = z.infer<typeof entrySchema>;

/** How long a read of the file is trusted before its time stamp is looked at again. */
const CHECK_EVERY_MS = 500;

export class TokenFile {
  readonly #path: string;
  readonly #report: (message: string) => void;
  #byHash = new Map<string, TokenEntry>();
  #stamp = "";
  #checkedAt = Number.NEGATIVE_INFINITY;
  /** The last trouble that was reported, so that one that lasts is one line in the log. */
  #reported = "";

  /** Throws INVALID_ARGUMENT when the file cannot be used at the start. */
  constructor(path: string, report: (message: string) => void) {
    this.#path = path;
    this.#report = report;
    this.#load(stampOf(path));
    if (isReadableByOthers(path)) {
      report(`tokens file ${path} can be read by other users; chmod 600 it`);
    }
  }

  /** Throws UNAUTHENTICATED without saying why. `nowMs` is wall-clock time. */
  authenticate(token: string, nowMs: number): Principal {
    this.#refresh();
    const entry = this.#byHash.get(hashToken(token));
    const expiresAtMs = entry?.expiresAt == null ? null : Date.parse(entry.expiresAt);
    const expired = expiresAtMs !== null && nowMs >= expiresAtMs;
    if (entry === undefined || entry.revoked || expired) throw unauthenticated();
    return {
      name: entry.name,
      tenant: entry.tenant,
      scopes: new Set(entry.scopes),
      tools: entry.tools === null ? null : new Set(entry.tools),
      expiresAtMs,
    };
  }

  #refresh(): void {
    const now = performance.now();
    if (now - this.#checkedAt < CHECK_EVERY_MS) return;
    this.#checkedAt = now;
    try {
      const stamp = stampOf(this.#path);
      if (stamp !== this.#stamp) this.#load(stamp);
      this.#reported = "";
    } catch (error) {
      const reason = error instanceof Error ? error.message : "unreadable";
      if (reason === this.#reported) return;
      this.#reported = reason;
      this.#report(`tokens file kept as it was: ${reason}`);
    }
  }

  #load(stamp: string): void {
    this.#byHash = new Map(readTokens(this.#path).map((entry) => [entry.sha256, entry]));
    this.#stamp = stamp;
    this.#checkedAt = performance.now();
  }
}

export function readTokens(path: string): TokenEntry[] {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(path, "utf8"))).tokens;
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : "not readable as JSON";
    throw new AgentTxError("INVALID_ARGUMENT", `tokens file ${path}: ${reason}`);
  }
}

/** A fresh token and its hash; the token is shown once and never stored. */
export function makeToken(): { readonly token: string; readonly sha256: string } {
  const token = `atx_${randomBytes(32).toString("base64url")}`;
  return { token, sha256: hashToken(token) };
}

export function hashToken(token: string): string {
  return createHash("sha256").update(token, "utf8").digest("hex");
}

/** `Bearer xyz` -> `xyz`; null for anything else. */
export function bearerOf(header: string | undefined): string | null {
  const match = /^Bearer ([A-Za-z0-9._~+/=-]{1,512})$/i.exec(header ?? "");
  return match?.[1] ?? null;
}

export function unauthenticated(): AgentTxError {
  return new AgentTxError("UNAUTHENTICATED", "A valid bearer token is needed.");
}

function isReadableByOthers(path: string): boolean {
  return process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0;
}

function stampOf(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs}:${size}:${ino}`;
  } catch {
    throw new AgentTxError("INVALID_ARGUMENT", `tokens file ${path} cannot be read`);
  }
}
