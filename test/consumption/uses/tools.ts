// A program that uses @agenttx/tools and its entry points; none needs the optional peer of the SQL
// tools to be imported.

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
  sqlTools({});
} catch (error) {
  refused = error instanceof Error ? error.message : "";
}
if (!refused.includes("path or database")) throw new Error(`unexpected: ${refused}`);
rmSync(root, { recursive: true });
