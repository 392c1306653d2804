// Owns `agenttx doctor`: what a person needs to know before asking for help.

import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { findAddon } from "../doctor/addon.js";
import { EXIT } from "../exit-codes.js";
import { API_VERSION } from "../output.js";
import type { CommandContext } from "../program.js";
import { openSession } from "../session.js";

const FREE_BYTES_LOW = 1024 ** 3;

export interface DoctorCheck {
  readonly name: string;
  readonly status: "ok" | "warning" | "failed";
  readonly found: string;
  /** What to do; null when nothing has to be done. */
  readonly fix: string | null;
}

/** Exit code 5 when a check failed, 6 when effects wait for a person, else 0. */
export async function doctor(context: CommandContext, version: string): Promise<number> {
  const checks: DoctorCheck[] = [
    ok("agenttx", version),
    nodeCheck(),
    addonCheck(),
    await spaceCheck(context.dataDirectory),
  ];
  const { store, unresolved } = await storeChecks(context.dataDirectory);
  checks.push(...store);
  const failed = checks.some((check) => check.status === "failed");
  const healthy = !failed && unresolved === 0;
  context.output.data({ apiVersion: API_VERSION, type: "doctor", healthy, unresolved, checks });
  print(context, checks);
  if (failed) return EXIT.UNAVAILABLE;
  return unresolved > 0 ? EXIT.UNRESOLVED : EXIT.OK;
}

function ok(name: string, found: string): DoctorCheck {
  return { name, status: "ok", found, fix: null };
}

function nodeCheck(): DoctorCheck {
  const { node, v8 } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const found = `${node} (V8 ${v8}) on ${process.platform}-${process.arch}`;
  if (major > 20 || (major === 20 && minor >= 17)) return ok("node", found);
  return { name: "node", status: "failed", found, fix: "install Node 20.17 or newer" };
}

function addonCheck(): DoctorCheck {
  const { platform, path, problem } = findAddon();
  if (problem === null) return ok("addon", `${platform}, ${path}`);
  return { name: "addon", status: "failed", found: `not found for ${platform}`, fix: problem };
}

async function spaceCheck(directory: string): Promise<DoctorCheck> {
  let existing = resolve(directory);
  while (!existsSync(existing)) existing = dirname(existing);
  const { bavail, bsize } = await statfs(existing);
  const free = bavail * bsize;
  const found = `${(free / 1024 ** 3).toFixed(1)} GiB free at ${existing}`;
  if (free >= FREE_BYTES_LOW) return ok("free space", found);
  return { name: "free space", status: "warning", found, fix: "free some space on this volume" };
}

async function storeChecks(
  directory: string,
): Promise<{ store: DoctorCheck[]; unresolved: number }> {
  const path = resolve(directory);
  if (!existsSync(path)) {
    return { store: [ok("store", `none at ${path} yet; agenttx run makes one`)], unresolved: 0 };
  }
  try {
    const session = await openSession({ dataDirectory: directory });
    try {
      const stats = await session.store.stats();
      const open = `${stats.openTransactions} open transactions`;
      const effects = await session.engine.unresolved();
      const checks = [ok("store", `${path}, commit version ${stats.commitVersion}, ${open}`)];
      for (const found of session.store.warnings) {
        checks.push({ name: "store", status: "warning", found, fix: null });
      }
      checks.push(unresolvedCheck(effects.length));
      return { store: checks, unresolved: effects.length };
    } finally {
      await session.close();
    }
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return { store: [{ name: "store", status: "failed", found, fix: null }], unresolved: 0 };
  }
}

function unresolvedCheck(count: number): DoctorCheck {
  const found = `${count} effects wait for a person`;
  if (count === 0) return ok("unresolved", "nothing waits for a person");
  return { name: "unresolved", status: "warning", found, fix: "see agenttx unresolved" };
}

function print({ output }: CommandContext, checks: readonly DoctorCheck[]): void {
  const longest = Math.max(...checks.map((check) => check.name.length));
  for (const { name, status, found, fix } of checks) {
    const style = status === "ok" ? "green" : status === "warning" ? "yellow" : "red";
    output.line(`${output.paint(style, status.padEnd(7))}  ${name.padEnd(longest)}  ${found}`);
    if (fix !== null) output.line(`${" ".repeat(longest + 11)}${fix.replace(/\n/g, "\n  ")}`);
  }
}
