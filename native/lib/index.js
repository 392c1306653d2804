// Owns finding and loading the addon. No package has an install script: what is not found is
// explained, never compiled.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);

export const INTERFACE_VERSION = 3;

/** `gnu` or `musl` on Linux, "" elsewhere. */
function libcOf() {
  if (process.platform !== "linux") return "";
  try {
    const ldd = readFileSync("/usr/bin/ldd", "latin1");
    if (ldd.includes("musl")) return "musl";
    if (ldd.includes("GNU")) return "gnu";
  } catch {
    // No ldd on this system: the process report knows too, at a higher price.
  }
  const excluded = process.report.excludeNetwork;
  process.report.excludeNetwork = true;
  const { header } = process.report.getReport();
  process.report.excludeNetwork = excluded;
  return header.glibcVersionRuntime ? "gnu" : "musl";
}

export function platformTriple() {
  return [process.platform, process.arch, libcOf()].filter((part) => part !== "").join("-");
}

/** Where the addon may be, in order. */
function candidates(triple) {
  const explicit = process.env.AGENTTX_NATIVE_PATH;
  if (explicit) return [{ from: "AGENTTX_NATIVE_PATH", specifier: explicit }];
  const local = fileURLToPath(new URL("../build/Release/agenttx_native.node", import.meta.url));
  return [
    { from: "platform package", specifier: `@agenttx/native-${triple}` },
    { from: "local build", specifier: local },
  ];
}

function notFound(triple, failures) {
  const tried = failures.map(
    ({ from, specifier, reason }) => `  - ${from}: ${specifier}\n    ${reason}`,
  );
  const fix = process.env.AGENTTX_NATIVE_PATH
    ? "unset AGENTTX_NATIVE_PATH, or point it at an agenttx_native.node built for this platform"
    : `npm install @agenttx/native-${triple} (do not omit optional dependencies), or in a checkout: node native/scripts/build.mjs`;
  const error = new Error(
    [
      `The native addon of AgentTx could not be loaded on ${triple} (Node ${process.version}).`,
      "Tried, in order:",
      ...tried,
      `Fix: ${fix}.`,
    ].join("\n"),
  );
  error.name = "AgentTxError";
  // The mark that isAgentTxError of @agenttx/model looks for; this package depends on nothing.
  return Object.assign(error, {
    code: "ADDON_NOT_FOUND",
    retryable: false,
    details: { platform: triple, tried: failures.map(({ specifier }) => specifier) },
    [Symbol.for("agenttx.error")]: true,
  });
}

function reasonOf(error) {
  return String(error?.message ?? error).split("\n", 1)[0];
}

export function loadAddon() {
  const triple = platformTriple();
  const failures = [];
  for (const candidate of candidates(triple)) {
    try {
      const addon = require(candidate.specifier);
      if (addon.interfaceVersion === INTERFACE_VERSION) return addon;
      failures.push({
        ...candidate,
        reason: `its interface version is ${addon.interfaceVersion}, this package needs ${INTERFACE_VERSION}`,
      });
    } catch (error) {
      failures.push({ ...candidate, reason: reasonOf(error) });
    }
  }
  throw notFound(triple, failures);
}
