// Owns `agenttx serve`: settings, tools, one server, and its end.
//
//   I1 The first SIGTERM or SIGINT drains and stops: exit code 0. The second one ends at once.
//   I2 Files that this process makes belong to its user alone (umask 077).

import type { RunningServer, Settings } from "@agenttx/server";
import { EXIT } from "../exit-codes.js";
import { API_VERSION, type Output } from "../output.js";
import type { CommandContext } from "../program.js";
import { loadTools } from "../tools-module.js";
import { type FlagValues, readConfig } from "./config.js";
import { readRecoverySettings } from "./recovery/session.js";

export async function serve(context: CommandContext, flags: FlagValues): Promise<number> {
  const { output } = context;
  process.umask(0o077);
  const { settings, origins } = await readConfig(flags);
  const { startServer } = await import("@agenttx/server");
  const tools = (await Promise.all(settings.tools.map((module) => loadTools(module)))).flat();
  // People at a terminal read the line below; the log is for machines unless they ask for it.
  const quiet = process.stderr.isTTY === true && origins.logLevel === "default";
  const server = await startServer({
    settings: quiet ? { ...settings, logLevel: "warn" } : settings,
    tools,
    recovery: await readRecoverySettings(settings.tools),
  });
  announce(output, server, settings);
  await stopped(output, server);
  return EXIT.OK;
}

function announce(output: Output, server: RunningServer, settings: Settings): void {
  const { grpcPort, httpPort } = server;
  const { listen, httpListen, dataDir, tlsCert } = settings;
  const grpc = bound(listen, grpcPort);
  const http = bound(httpListen, httpPort);
  const scheme = tlsCert === undefined ? "http" : "https";
  const parts = [`gRPC ${grpc}`];
  if (httpListen !== "off")
    parts.push(`HTTP ${http.startsWith("unix:") ? "" : `${scheme}://`}${http}`);
  output.data({ apiVersion: API_VERSION, type: "serving", grpc, http, dataDir, pid: process.pid });
  output.line(`agenttx serves ${parts.join(", ")}, data in ${dataDir}; Ctrl-C stops it`);
}

/** The address with the port that was taken for 0. */
function bound(address: string, port: number | null): string {
  return port === null ? address : address.replace(/:\d+$/, `:${port}`);
}

function stopped(output: Output, server: RunningServer): Promise<void> {
  return new Promise((resolve, reject) => {
    let stopping = false;
    const handle = (signal: "SIGINT" | "SIGTERM") => {
      if (stopping) process.exit(signal === "SIGINT" ? EXIT.INTERRUPTED : EXIT.TERMINATED);
      stopping = true;
      output.note(`${signal}: stopping; what is open goes on at the next start`);
      server.close().then(() => {
        process.off("SIGINT", handle).off("SIGTERM", handle);
        resolve();
      }, reject);
    };
    process.on("SIGINT", handle).on("SIGTERM", handle);
  });
}
