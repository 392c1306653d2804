// Owns where settings come from. The only file of the server that reads the environment.

import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { AgentTxError } from "@agenttx/model";
import { parse } from "smol-toml";
import {
  environmentName,
  fileName,
  flagName,
  SETTING_NAMES,
  type SettingName,
  type Settings,
  settingsSchema,
} from "./settings.js";

export type Origin = "flag" | "environment" | "file" | "default";

export interface LoadedConfig {
  readonly settings: Settings;
  readonly origins: Readonly<Record<SettingName, Origin>>;
}

export interface ConfigSources {
  /** By setting name; undefined = not given. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Path of a TOML file. */
  readonly file?: string | undefined;
}

/** Throws INVALID_ARGUMENT whose message has one line for each setting that cannot be. */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const environment = sources.environment ?? process.env;
  const file = sources.file === undefined ? {} : readConfigFile(sources.file);
  const raw: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  for (const name of SETTING_NAMES) {
    const candidates: [Origin, unknown][] = [
      ["flag", sources.flags?.[name]],
      // Set and empty is how many tools say "not set".
      ["environment", environment[environmentName(name)] || undefined],
      ["file", file[fileName(name)]],
    ];
    const found = candidates.find(([, value]) => value !== undefined);
    origins[name] = found?.[0] ?? "default";
    if (found !== undefined) raw[name] = found[1];
  }
  const parsed = settingsSchema.safeParse(raw);
  const problems = parsed.success
    ? contradictions(parsed.data)
    : parsed.error.issues.map((issue) => {
        const name = String(issue.path[0] ?? "");
        return `${flagName(name)} (from ${origins[name] ?? "file"}): ${issue.message}`;
      });
  if (!parsed.success || problems.length > 0) {
    throw new AgentTxError("INVALID_ARGUMENT", problems.join("\n"), { details: { problems } });
  }
  return { settings: parsed.data, origins: origins as Record<SettingName, Origin> };
}

function readConfigFile(path: string): Record<string, unknown> {
  let content: Record<string, unknown>;
  try {
    content = parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : "";
    throw new AgentTxError("INVALID_ARGUMENT", `config file ${path}: ${reason}`);
  }
  const known = new Set<string>(SETTING_NAMES.map(fileName));
  const unknown = Object.keys(content).filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new AgentTxError(
      "INVALID_ARGUMENT",
      `config file ${path}: unknown ${unknown.join(", ")}`,
    );
  }
  return content;
}

/** Settings that are valid alone and wrong together. */
function contradictions(settings: Settings): string[] {
  const problems: string[] = [];
  const { tlsCert, tlsKey, tlsClientCa, tokensFile, insecure } = settings;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    problems.push("--tls-cert and --tls-key go together");
  }
  if (tlsClientCa !== undefined && tlsCert === undefined) {
    problems.push("--tls-client-ca needs --tls-cert and --tls-key");
  }
  const identified = tokensFile !== undefined || tlsClientCa !== undefined;
  for (const [name, value] of [
    ["--listen", settings.listen],
    ["--http-listen", settings.httpListen],
  ] as const) {
    if (insecure || isLoopback(value)) continue;
    if (tlsCert === undefined || !identified) {
      problems.push(
        `${name} ${value} is not loopback: it needs --tls-cert, --tls-key and --tokens-file (or --tls-client-ca), or --insecure`,
      );
    }
  }
  return problems;
}

/** True for 127.0.0.0/8, ::1, localhost, unix sockets and `off`. */
export function isLoopback(address: string): boolean {
  if (address === "off" || address.startsWith("unix:")) return true;
  const host = address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, "");
  if (host === "localhost" || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}
