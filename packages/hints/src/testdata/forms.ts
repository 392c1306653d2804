// Owns the forms in which the labelled errors are tried.

/** As a tool throws it: words under a class of its own; what was no text becomes the cause. */
export function thrown(raw: unknown): unknown {
  if (typeof raw !== "string") return new Error("The call failed", { cause: raw });
  return Object.assign(new Error(raw), { name: "ToolError", attempts: 3 });
}

/** In the middle of other lines, as a tool prints what its subprocess said. */
export function logged(raw: unknown): unknown {
  if (typeof raw !== "string") return { ok: false, data: { error: raw }, elapsedMs: 12 };
  const before = "2026-03-01T10:00:00Z starting step 3 of 9";
  const frames = "\tat run (/app/tools/call.js:41:9)\n    at next (node:internal/process:95:5)";
  return `${before}\n${raw}\n${frames}\nexit status 1`;
}
