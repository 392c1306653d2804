// Owns `agenttx token`: the tokens file that a server reads. A token is shown once, when it is made;
// the file has its hash.

import { AgentTxError } from "@agenttx/model";
import type { TokenEntry } from "@agenttx/server";
import { EXIT } from "../exit-codes.js";
import { API_VERSION } from "../output.js";
import type { CommandContext } from "../program.js";
import { tableLines } from "../table.js";

export interface CreateTokenOptions {
  readonly tokensFile: string;
  readonly name: string;
  readonly tenant: string;
  readonly scope: readonly string[];
  readonly tool: readonly string[];
  readonly expires?: string;
}

export async function createToken(
  { output }: CommandContext,
  options: CreateTokenOptions,
): Promise<number> {
  const { createToken: create, SCOPES } = await import("@agenttx/server");
  const { tokensFile, name, tenant, tool } = options;
  const scopes = options.scope.length === 0 ? [...SCOPES] : [...options.scope];
  const entry = {
    name,
    tenant,
    scopes: scopes as TokenEntry["scopes"],
    tools: tool.length === 0 ? null : [...tool],
    expiresAt: options.expires === undefined ? null : expiry(options.expires, Date.now()),
  };
  const token = create(tokensFile, entry);
  output.data({ apiVersion: API_VERSION, type: "token", token, ...entry });
  output.line(token);
  output.note(`keep it: it is not shown again; ${tokensFile} has its hash`);
  return EXIT.OK;
}

export async function listTokens(
  { output }: CommandContext,
  options: { readonly tokensFile: string },
): Promise<number> {
  const { readTokens } = await import("@agenttx/server");
  const tokens = readTokens(options.tokensFile).map(({ sha256: _hash, ...shown }) => shown);
  output.data(tokens);
  if (tokens.length === 0) output.note("no tokens");
  type Shown = (typeof tokens)[number];
  const columns = [
    { title: "name", value: (token: Shown) => token.name },
    { title: "tenant", value: (token: Shown) => token.tenant },
    { title: "scopes", value: (token: Shown) => token.scopes.join(",") },
    { title: "tools", value: (token: Shown) => token.tools?.join(",") ?? "all" },
    { title: "expires", value: (token: Shown) => token.expiresAt },
    { title: "state", value: (token: Shown) => stateOf(token, Date.now()) },
  ];
  if (tokens.length > 0) {
    for (const line of tableLines(tokens, columns, output.paint)) output.line(line);
  }
  return EXIT.OK;
}

export async function revokeToken(
  { output }: CommandContext,
  options: { readonly tokensFile: string; readonly name: string },
): Promise<number> {
  const { revokeToken: revoke } = await import("@agenttx/server");
  const { tokensFile, name } = options;
  const revoked = revoke(tokensFile, name);
  output.data({ apiVersion: API_VERSION, type: "revoked", name, revoked });
  output.line(revoked === 0 ? `${name} was revoked before` : `${name} is revoked`);
  return EXIT.OK;
}

function stateOf(token: Omit<TokenEntry, "sha256">, nowMs: number): string {
  if (token.revoked) return "revoked";
  const expired = token.expiresAt !== null && Date.parse(token.expiresAt) <= nowMs;
  return expired ? "expired" : "in force";
}

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `30d`, `12h`, `5m` from now, or a date: as ISO text. */
function expiry(text: string, nowMs: number): string {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) {
    return new Date(nowMs + Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]).toISOString();
  }
  const at = Date.parse(text);
  if (Number.isFinite(at)) return new Date(at).toISOString();
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    `--expires ${text} is no time. Give 30d, 12h, 5m or a date such as 2027-01-31T00:00:00Z.`,
  );
}
