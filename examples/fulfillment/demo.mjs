// The main job, twice: an agent fulfils an order, finds out late that it took the wrong customer,
// and goes back; then the same, and its process is killed in the middle.
//
//   node examples/fulfillment/demo.mjs [--keep]     exit code 0 when everything is as it should be
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runPlan } from "./demo/agenttx.mjs";
import { checkEverything } from "./demo/checks.mjs";
import { explainAct, heading, printChecks, printFigures, say } from "./demo/print.mjs";
import { launchServices } from "./services/launch.mjs";

const TOOLS = ["--tools", fileURLToPath(new URL("./tools.mjs", import.meta.url))];
const POLL_MS = 10;
const WAIT_MS_MAX = 15_000;

const keep = process.argv.includes("--keep");
const directory = mkdtempSync(join(tmpdir(), "agenttx-demo-"));
const data = join(directory, "store");
const outbox = join(directory, "outbox.jsonl");
const children = new Set();

process.once("SIGINT", () => finish(130));
process.once("SIGTERM", () => finish(143));

let services = null;
try {
  services = await launchServices(join(directory, "services"));
  process.exitCode = await main(services);
} catch (error) {
  console.error(`\nThe demo failed: ${error.message}`);
  process.exitCode = 1;
} finally {
  await services?.stop();
  cleanUp();
}

async function main({ urls, env: serviceUrls }) {
  const env = { ...serviceUrls, OUTBOX_FILE: outbox };
  heading("AgentTx: an order is fulfilled by an agent that makes a mistake");
  say("inventory, carrier and payments run as processes of their own, each with a SQLite file.");
  say("The orders database lives in the transaction's own state, on RocksDB.");
  await must(start({ plan: "seed.json", data, env, args: TOOLS, show: false }), 0);

  heading("Act 1   the wrong customer, found four steps later");
  const first = await must(start(order("A-1001", env)), 0);
  explainAct(first.result);

  heading("Act 2   the same again, and the process is killed in the middle");
  await post(`${urls.carrier}/admin/faults`, { hold: 1 });
  const victim = start(order("A-1002", env));
  await until(async () => (await get(`${urls.carrier}/ledger`)).bookings.length === 3);
  victim.child.kill("SIGKILL");
  const killed = await victim.finished;
  if (!killed.killed) throw new Error("the process ended before it could be killed");
  say("kill -9: the carrier has booked, and nobody was told.", "strong");

  heading("Restart   the next run recovers first");
  const second = await must(start(order("A-1002", env)), 0);
  explainAct(second.result);

  heading("What everyone holds now");
  const orders = [
    { order: "A-1001", booking: "BKG-2", capture: "CAP-2" },
    { order: "A-1002", booking: "BKG-5", capture: "CAP-4" },
  ];
  const rows = await checkEverything({ urls, data, outbox, orders });
  printChecks(rows);
  heading("Figures");
  printFigures([first.result, second.result]);
  const wrong = rows.filter((row) => !row.ok);
  if (wrong.length === 0) return 0;
  console.error(`\n${wrong.length} of ${rows.length} checks found something else than expected.`);
  return 1;
}

function order(id, env) {
  return { plan: "plan.json", data, env, args: [...TOOLS, "--input", `order_id=${id}`] };
}

function start(options) {
  const run = runPlan(options);
  children.add(run.child);
  void run.finished.then(() => children.delete(run.child));
  return run;
}

async function must({ finished }, exitCode) {
  const run = await finished;
  if (run.exitCode === exitCode) return run;
  throw new Error(`agenttx ended with ${run.exitCode} instead of ${exitCode}.\n${run.complaints}`);
}

async function until(condition) {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error("the carrier was never asked to book");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function get(url) {
  return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).json();
}

async function post(url, body) {
  const request = {
    method: "POST",
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(5_000),
  };
  return (await fetch(url, request)).json();
}

function cleanUp() {
  for (const child of children) child.kill("SIGKILL");
  if (keep) console.log(`\nKept: ${directory}`);
  else rmSync(directory, { recursive: true, force: true });
}

/** Ctrl-C: the services stop with this process, because their standard input closes. */
function finish(code) {
  cleanUp();
  process.exit(code);
}
