// Owns who is calling: tenant, scopes, allowed tools.

import { AgentTxError } from "@agenttx/model";

/** run: begin, step, commit, rollback. operate: resolve, work. read: get, list, watch, audit. */
export type Scope = "run" | "operate" | "read";
export const SCOPES: readonly Scope[] = ["run", "operate", "read"];

export interface Principal {
  /** Name for logs, audit and resolutions; never the token. */
  readonly name: string;
  /** Namespace of everything this caller sees; "" is the only tenant without tokens. */
  readonly tenant: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Names the caller may run; null = all. */
  readonly tools: ReadonlySet<string> | null;
  /** Milliseconds since the epoch; null = never. Checked again on long streams. */
  readonly expiresAtMs: number | null;
}

/** The caller on a loopback server without tokens: it may do everything. */
export const LOCAL_PRINCIPAL: Principal = {
  name: "local",
  tenant: "",
  scopes: new Set(SCOPES),
  tools: null,
  expiresAtMs: null,
};

/** Throws PERMISSION_DENIED that names the scope, not the caller's rights. */
export function requireScope(principal: Principal, scope: Scope): void {
  if (principal.scopes.has(scope)) return;
  throw new AgentTxError("PERMISSION_DENIED", `This token lacks the scope \`${scope}\`.`, {
    details: { scope },
  });
}

export function requireTool(principal: Principal, tool: string): void {
  if (principal.tools === null || principal.tools.has(tool)) return;
  throw new AgentTxError("PERMISSION_DENIED", "This token may not run that tool.", {
    details: { tool },
  });
}

/**
 * Who acted is what the token says; without tokens it is what the caller says. Throws
 * PERMISSION_DENIED when both differ.
 */
export function actorOf({ principal }: { readonly principal: Principal }, said: string): string {
  const actor = principal === LOCAL_PRINCIPAL && said !== "" ? said : principal.name;
  if (said === "" || said === actor) return actor;
  throw new AgentTxError("PERMISSION_DENIED", "`actor` is not the owner of this token.", {
    details: { field: "actor" },
  });
}
