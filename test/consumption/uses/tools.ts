// Goal: a reader of the tools' README gets by with what is installed, also without the optional
// peer of the SQL tools.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtinTools, fsTools } from "@agenttx/tools";
import { requireCertified, SUITE_VERSION } from "@agenttx/tools/adapter-kit";
import { httpTools, webhookSink } from "@agenttx/tools/http";
import { sqlTools } from "@agenttx/tools/sql";

const root = mkdtempSync(join(tmpdir(), "agenttx-consumer-"));
const sink = webhookSink({ url: "https://example.com/hook" });
const names: string[] = builtinTools({ fs: { root }, effect: { sinks: { hook: sink } } }).map(
  ({ name }) => name,
);
if (!names.includes("effect.stage")) throw new Error(`unexpected tools: ${names.join(", ")}`);

const [write] = fsTools({ root });
const [request] = httpTools({ allow: ["https://api.example.com/v1/"] });
requireCertified([write, request], { trust: [request.name] });
if (SUITE_VERSION < 1) throw new Error("the suite has a version");

let refused = "";
try {
  sqlTools({ path: join(root, "shop.db") });
} catch (error) {
  refused = error instanceof Error ? error.message : "";
}
if (!refused.includes("better-sqlite3")) throw new Error(`unexpected: ${refused}`);
rmSync(root, { recursive: true });
