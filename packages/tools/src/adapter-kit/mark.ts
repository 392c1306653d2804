// Owns the mark that a tool passed the conformance suite.
//
//   Z1 The mark names the functions that were tested: a copy whose execute, undo or lookup was
//      replaced does not count.
//   Z2 It guards against mistakes, not against malice: whoever registers tools can also forge it.

import { SUITE_VERSION } from "./report.js";

const MARK = Symbol.for("agenttx.certified");

/** The part of a tool that a certificate speaks about; any tool definition fits. */
export interface CertifiableTool {
  readonly name: string;
  readonly version?: string;
  readonly effect: unknown;
  readonly scope?: "store" | "external";
  readonly execute: unknown;
  readonly compensate?: unknown;
  readonly undo?: unknown;
  readonly lookup?: unknown;
  readonly verify?: unknown;
}

interface Mark {
  readonly suite: number;
  readonly version: string;
  readonly parts: readonly unknown[];
}

function partsOf(tool: CertifiableTool): readonly unknown[] {
  const undo = typeof tool.undo === "object" && tool.undo !== null ? Object.values(tool.undo) : [];
  return [tool.execute, tool.compensate, tool.lookup, tool.verify, ...undo];
}

/** A copy with the mark. */
export function marked<Tool extends CertifiableTool>(tool: Tool): Tool {
  const version = tool.version ?? "1";
  const mark: Mark = { suite: SUITE_VERSION, version, parts: partsOf(tool) };
  return Object.assign({ ...tool }, { [MARK]: mark });
}

/** For the tools of this package: its own tests run the suite on them. */
export function certifiedByBuild<Tool extends CertifiableTool>(tool: Tool): Tool {
  return marked(tool);
}

/** True when the suite passed on these very functions (Z1). */
export function isCertified(tool: CertifiableTool): boolean {
  // Only `marked` puts something here, possibly that of another copy of this package.
  const mark = Reflect.get(tool, MARK) as Mark | undefined;
  if (mark === undefined || mark.suite !== SUITE_VERSION) return false;
  if (mark.version !== (tool.version ?? "1")) return false;
  const parts = partsOf(tool);
  return (
    parts.length === mark.parts.length && parts.every((part, index) => part === mark.parts[index])
  );
}
