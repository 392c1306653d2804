// Owns `agenttx drill`: a recovery on a checkpoint copy with simulated owners, and its report (C11).

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentTxError } from "@agenttx/model";
import { type DrillReport, type OwnerBehaviour, runDrill } from "@agenttx/recovery";
import { openStore } from "@agenttx/storage";
import { EXIT } from "../../exit-codes.js";
import { keepAlive } from "../../keep-alive.js";
import { API_VERSION, type Output, printable } from "../../output.js";
import type { CommandContext } from "../../program.js";
import { openExistingStore } from "../../session.js";
import { tableLines } from "../../table.js";
import { formatMs } from "../../timeline/duration.js";
import { loadTools } from "../../tools-module.js";
import { readRecoverySettings } from "./session.js";

export interface DrillCommand {
  readonly owners: OwnerBehaviour;
  readonly owner: readonly string[];
  readonly checkpoint: string;
  readonly tools: readonly string[];
  readonly slowMs: number;
  readonly deadlineMs: number;
}

/** Exit code 6 when something would stay unresolved. The copy is removed in every case. */
export async function drill(
  context: CommandContext,
  workflows: readonly string[],
  options: DrillCommand,
): Promise<number> {
  const { output } = context;
  const byTool = readOwners(options.owner);
  const place = mkdtempSync(join(tmpdir(), "agenttx-drill-"));
  const release = keepAlive();
  try {
    const copy = join(place, "copy");
    const store = await openExistingStore(context.dataDirectory);
    try {
      await store.checkpoint(copy);
    } finally {
      await store.close();
    }
    const tools = (await Promise.all(options.tools.map((one) => loadTools(one)))).flat();
    await using copied = await openStore({ path: copy });
    const { checkpoint, slowMs, deadlineMs } = options;
    const report = await runDrill({
      ...(await readRecoverySettings(options.tools)),
      store: copied,
      owners: { others: options.owners, byTool },
      tools,
      checkpoint,
      slowMs,
      deadlineMs,
      ...(workflows.length === 0 ? {} : { workflows }),
    });
    output.data({ apiVersion: API_VERSION, type: "drill", ...report });
    print(output, report);
    return report.stuck === 0 ? EXIT.OK : EXIT.UNRESOLVED;
  } finally {
    release();
    rmSync(place, { recursive: true, force: true });
  }
}

const BEHAVIOURS: readonly string[] = ["healthy", "slow", "failing", "silent", "wrong"];

function readOwners(texts: readonly string[]): Record<string, OwnerBehaviour> {
  const found: Record<string, OwnerBehaviour> = {};
  for (const text of texts) {
    const at = text.lastIndexOf("=");
    const behaviour = text.slice(at + 1);
    if (at < 1 || !BEHAVIOURS.includes(behaviour)) {
      throw new AgentTxError(
        "INVALID_ARGUMENT",
        `--owner takes tool=behaviour, one of ${BEHAVIOURS.join(", ")}.`,
      );
    }
    // Checked against the list above.
    found[text.slice(0, at)] = behaviour as OwnerBehaviour;
  }
  return found;
}

type Row = DrillReport["workflows"][number];

function print(output: Output, report: DrillReport): void {
  const columns = [
    { title: "workflow", value: (row: Row) => row.workflow },
    { title: "ends in", value: (row: Row) => row.state },
    { title: "took", align: "right" as const, value: (row: Row) => formatMs(row.recoveryMs) },
    { title: "undone", align: "right" as const, value: (row: Row) => row.undone },
    {
      title: "would stay unresolved",
      value: (row: Row) => row.refused ?? row.unresolved.map(({ tool }) => tool).join(", "),
    },
  ];
  for (const line of tableLines(report.workflows, columns, output.paint)) output.line(line);
  const { recovered, stuck, recoveryMs, unverified, settings } = report;
  const { median, max } = recoveryMs;
  output.line(
    `${recovered} recovered, ${stuck} stuck; median ${formatMs(median)}, longest ${formatMs(max)}, with a deadline of ${settings.deadlineMs} ms`,
  );
  for (const tool of unverified) {
    output.note(`${printable(tool)} has no verification: a wrong answer would not be noticed`);
  }
}
