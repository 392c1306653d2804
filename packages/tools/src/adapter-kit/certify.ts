// Owns who is taken for certified: tools with a report of the whole suite, and those trusted by
// name.

import { AgentTxError } from "@agenttx/model";
import { ADAPTER_CLAIMS } from "./claims.js";
import { type CertifiableTool, isCertified, marked } from "./mark.js";
import { type ConformanceReport, SUITE_VERSION } from "./report.js";

/**
 * The tool with the mark of a passed suite; the argument stays as it is. `report` may come from a
 * file: run the suite when you build, keep the report, certify at the start. Throws TOOL_INVALID
 * when it is about another tool, version or suite, or when a claim failed or is missing.
 */
export function certify<Tool extends CertifiableTool>(tool: Tool, report: ConformanceReport): Tool {
  const version = tool.version ?? "1";
  if (report.tool !== tool.name || report.version !== version) {
    const about = `${report.tool} (version ${report.version})`;
    refuse(tool.name, `the report is about ${about}, not about version ${version} of it`);
  }
  if (report.suite !== SUITE_VERSION) {
    refuse(tool.name, `the report is of suite ${report.suite}; run suite ${SUITE_VERSION}`);
  }
  const held = new Set(
    report.claims.filter(({ status }) => status !== "failed").map(({ title }) => title),
  );
  const open = Object.keys(ADAPTER_CLAIMS).filter((title) => !held.has(title));
  if (!report.passed || open.length > 0) refuse(tool.name, `these do not hold: ${open.join("; ")}`);
  return marked(tool);
}

/** Could a call of it be undone outside the store, so that a wrong undo does harm? */
function mayUndo(tool: CertifiableTool): boolean {
  if (tool.scope === "store") return false;
  if (typeof tool.effect !== "function") return tool.effect === "reversible";
  return tool.compensate !== undefined || tool.undo !== undefined;
}

/**
 * The tools as given, or TOOL_INVALID with the names of reversible ones that never passed the
 * suite and are not in `trust` (by name). Tools that only read, only stage or only write state need
 * no certificate.
 */
export function requireCertified<const Tools extends readonly CertifiableTool[]>(
  tools: Tools,
  options: { readonly trust?: readonly string[] } = {},
): Tools {
  const trusted = new Set(options.trust ?? []);
  const names = tools
    .filter((tool) => mayUndo(tool) && !isCertified(tool) && !trusted.has(tool.name))
    .map(({ name }) => name);
  if (names.length === 0) return tools;
  throw new AgentTxError(
    "TOOL_INVALID",
    `Not registered, because the adapter suite has not passed on them: ${names.join(", ")}. Run adapterConformance and certify them, or trust them by name.`,
    { details: { tools: names } },
  );
}

function refuse(name: string, why: string): never {
  throw new AgentTxError("TOOL_INVALID", `Tool "${name}" was not certified: ${why}.`, {
    details: { tool: name },
  });
}
