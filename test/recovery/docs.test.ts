// Goal: docs/recovery.md is true. Method: its console blocks are run in their order against a data
// directory with one order in it, and on a server of such a directory; the lines below a command must be found in what it prints, and a
// command ends with exit code 0 unless the page says otherwise.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createEngine, type ToolShape } from "@agenttx/engine";
import { createRecovery, type RecoveryOptions } from "@agenttx/recovery";
import { openStore } from "@agenttx/storage";
import { afterEach, beforeEach, expect, it } from "vitest";

const BIN = fileURLToPath(new URL("../../packages/cli/bin/agenttx.js", import.meta.url));
const TOOLS = fileURLToPath(new URL("./fixtures/order-tools.mjs", import.meta.url));
const PAGE = readFileSync(new URL("../../docs/recovery.md", import.meta.url), "utf8");

interface Shown {
  readonly command: string;
  readonly exitCode: number;
  readonly expected: string[];
}

let place: string;

beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), "agenttx-docs-"));
  mkdirSync(join(place, "world"));
  process.env.ORDER_WORLD = join(place, "world");
  const module = (await import(TOOLS)) as {
    tools: readonly ToolShape[];
    recovery: Pick<RecoveryOptions, "invariants">;
  };
  await using store = await openStore({ path: join(place, "data") });
  const engine = createEngine({ store, tools: module.tools });
  const recovery = createRecovery({ ...module.recovery, engine, store });
  const order = await recovery.workflows.start({ id: "order-1001", name: "Order 1001" });
  await order.step("stock.reserve", { order: "1001" });
  await order.checkpoint("reserved");
  await order.step("carrier.book", { order: "1001" });
  await engine.close();
});

afterEach(() => {
  delete process.env.ORDER_WORLD;
  delete process.env.AGENTTX_SERVER;
  rmSync(place, { recursive: true, force: true });
});

it("does what the page shows, command by command", () => {
  const shown = commandsOf(PAGE);
  expect(shown.length).toBeGreaterThan(10);
  runAll(shown);
}, 120_000);

it("does the same on a running server", async () => {
  const server = spawn(
    process.execPath,
    [BIN, "serve", "--listen", "127.0.0.1:0", "--http-listen", "off", "--tools", TOOLS, "--json"],
    {
      env: { ...process.env, AGENTTX_DATA_DIR: join(place, "data") },
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  const ended = new Promise((resolve) => server.once("close", resolve));
  try {
    const [line] = (await once(server.stdout, "data")) as [Buffer];
    process.env.AGENTTX_SERVER = (JSON.parse(String(line)) as { grpc: string }).grpc;
    // The page says which commands work on a data directory alone.
    const local = /^(drill|audit)\b|^resume --tools/;
    const shown = commandsOf(PAGE).filter(({ command }) => !local.test(command));
    expect(shown.length).toBeGreaterThan(8);
    runAll(shown);
  } finally {
    server.kill("SIGTERM");
    await ended;
  }
}, 120_000);

function runAll(shown: readonly Shown[]): void {
  let effect = "";
  for (const { command, exitCode, expected } of shown) {
    // The page says so in its text: the van was there between plan and apply.
    if (command.startsWith("apply")) writeFileSync(join(place, "world", "collected"), "");
    if (command.includes("<effect>") && effect === "") effect = firstOpenEffect();
    const run = agenttx(argumentsOf(command.replace("<effect>", effect)));
    expect(run.status, `${command}\n${run.stdout}${run.stderr}`).toBe(exitCode);
    const printed = `${run.stdout}${run.stderr}`.replace(/ +/g, " ");
    for (const line of expected) expect(printed, command).toContain(line.replace(/ +/g, " "));
  }
}

it("names every state and every kind of resolution", () => {
  const table = PAGE.replace(/ +/g, " ");
  for (const state of ["Running", "Frozen", "Compensating", "Reconciliation", "Recovered"]) {
    expect(table).toContain(`| ${state} |`);
  }
  const kinds = ["happened", "did-not-happen", "compensated-by-hand", "accepted-as-is", "retry"];
  for (const kind of kinds) expect(table).toContain(`| \`${kind}\` |`);
});

function commandsOf(page: string): Shown[] {
  const shown: Shown[] = [];
  for (const [, block] of page.matchAll(/```console\n([\s\S]*?)```/g)) {
    for (const line of (block ?? "").split("\n")) {
      if (line.startsWith("$ agenttx ")) {
        const [command = "", code] = line.slice("$ agenttx ".length).split(/ +# exit code /);
        shown.push({ command, exitCode: Number(code ?? 0), expected: [] });
      } else if (line.trim() !== "") shown.at(-1)?.expected.push(line.trim());
    }
  }
  return shown;
}

/** Words, with "quoted words" kept together. */
function argumentsOf(command: string): string[] {
  const words = command.match(/"[^"]*"|\S+/g) ?? [];
  return words.map((word) => (word === "./tools.mjs" ? TOOLS : word.replace(/^"|"$/g, "")));
}

function agenttx(args: readonly string[]) {
  return spawnSync(process.execPath, [BIN, ...args], {
    cwd: place,
    encoding: "utf8",
    env: { ...process.env, AGENTTX_DATA_DIR: join(place, "data"), NO_COLOR: "1" },
  });
}

function firstOpenEffect(): string {
  const run = agenttx(["reconcile", "list", "--json"]);
  const [item] = JSON.parse(run.stdout) as { effect: { effectId: string } }[];
  return item?.effect.effectId ?? "";
}
