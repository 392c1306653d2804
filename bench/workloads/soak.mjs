// Owns the soak workload: does the server stay as it is? It finds the most steps per second that the
// server does over 64 session streams, then drives 80 % of that, open loop, for minutes, and compares
// memory and latency of the last quarter with the second. Callers overwrite keys of their own, so
// that the state does not grow; most transactions commit, some rewind, some abort.
//
//   I1 Memory is sampled between two intervals, when nothing is in flight and garbage is collected.
//   I2 A run in which one call failed, or one value read is wrong, has a problem and says it.
import { loadavg } from "node:os";
import { createClient } from "@agenttx/client";
import { DURABILITY as OURS } from "../drivers/agenttx.mjs";
import { growth, quarters, SAMPLES_MIN } from "../harness/growth.mjs";
import { closedLoop, openLoop } from "../harness/open-loop.mjs";
import { seeded, textOf } from "../harness/random.mjs";
import { median, percentile, round } from "../harness/samples.mjs";
import { startServerProcess } from "../servers/server-process.mjs";

export const title = "Soak: 80 % of the most steps/s, for minutes";
export const drivers = { "AgentTx server": OURS };

const CALLERS = 64;
const SHARE_OF_MOST = 0.8;
const STEPS = 20;
const KEYS_EACH = 500;
/** Of the transactions of a caller: every so many rewinds, every so many aborts. */
const REWINDS = 7;
const ABORTS = 10;

export const trials = { soak: soakTrial };

export async function run(bench) {
  const minutes = bench.minutes ?? bench.pick({ quick: 0.1, normal: 10 });
  const [result] = await bench.trials("soak", 1, {
    minutes,
    calibrationSeconds: bench.pick({ quick: 0.5, normal: 10 }),
    open: bench.pick({ quick: 200, normal: 2_000 }),
  });
  const { series, most, rate, errors, firstError, perSession, perTransaction } = result;
  const of = (name) => series.map((sample) => sample[name]);
  const steps = of("steps").reduce((sum, count) => sum + count, 0);
  return {
    ratios: {
      memoryGrowth: growth(of("rss")),
      heapGrowth: growth(of("heapUsed")),
      latencyGrowth: growth(of("p50")),
      latencyGrowthP99: growth(of("p99")),
      processorGrowth: growth(of("serverMicrosPerStep")),
      kibPerSession: round(perSession / 1_024),
      kibPerOpenTransaction: round(perTransaction / 1_024),
    },
    figures: {
      [`${round(minutes)} minutes, ${CALLERS} callers`]: {
        "most steps/s": { steps: round(most) },
        "driven steps/s": { steps: round(rate) },
        "steps done": { steps },
        "errors, must be 0": { errors },
      },
      ...Object.fromEntries(
        quarters(series).map((part, index) => [`quarter ${index + 1}`, quarterRows(part)]),
      ),
    },
    series,
    problem: errors === 0 ? null : `${errors} calls failed, the first with: ${firstError}`,
  };
}

function quarterRows(part) {
  const of = (name) => round(median(part.map((sample) => sample[name])));
  const mib = (name) => round(of(name) / 2 ** 20);
  return {
    latency: { p50: of("p50"), p99: of("p99") },
    "server's processor time per step": { us: of("serverMicrosPerStep") },
    "server's memory": { rssMiB: mib("rss"), heapMiB: mib("heapUsed") },
    "load of the machine": { minute: of("load") },
  };
}

async function soakTrial({ directory, seed, minutes, calibrationSeconds, open }) {
  const server = await startServerProcess("agenttx", { dataDir: directory });
  const clients = [];
  try {
    const address = `127.0.0.1:${server.grpcPort}`;
    const before = await server.memory();
    for (let index = 0; index < CALLERS; index += 1) clients.push(createClient({ address }));
    for (const client of clients) await (await client.begin()).abort();
    const withSessions = await server.memory();
    const perTransaction = await openTransactionBytes(server, clients, open);

    const value = textOf(256, seeded(seed));
    const failures = { errors: 0, firstError: null };
    const callers = clients.map((client, index) => caller({ client, index, value, failures }));
    // What comes first compiles code and fills caches; it is not counted.
    await closedLoop(callers, calibrationSeconds / 4);
    const most = await closedLoop(callers, calibrationSeconds);
    const rate = most * SHARE_OF_MOST;
    console.log(`  ${round(most)} steps/s at most, ${round(rate)} for ${minutes} minutes`);
    const series = await soak({ server, callers, rate, seconds: minutes * 60 });
    return {
      most,
      rate,
      series,
      ...failures,
      perSession: (withSessions.rss - before.rss) / CALLERS,
      perTransaction,
    };
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await server.stop();
  }
}

/** Resident bytes of one more open transaction with a step, after as many that warmed up. */
async function openTransactionBytes(server, clients, count) {
  const openMany = () =>
    Promise.all(
      clients.map(async (client, index) => {
        const own = [];
        for (let number = index; number < count; number += clients.length) {
          const tx = await client.begin();
          await tx.step("kv.put", { key: `open-${index}-${number}`, value: number });
          own.push(tx);
        }
        return own;
      }),
    );
  const early = await openMany();
  const before = await server.memory();
  const kept = await openMany();
  const after = await server.memory();
  for (const tx of [...early, ...kept].flat()) await tx.abort();
  return (after.rss - before.rss) / count;
}

async function soak({ server, callers, rate, seconds }) {
  const count = Math.max(Math.round(seconds / 15), SAMPLES_MIN);
  const series = [];
  let { processor } = await server.memory();
  for (let index = 0; index < count; index += 1) {
    const run = await openLoop(callers, { rate, seconds: seconds / count });
    const steps = run.latencies.length;
    // Before the settling, which is not the steps' work.
    const busy = await server.processor();
    const memory = await server.memory();
    const sample = {
      seconds: run.seconds,
      steps,
      p50: percentile(run.latencies, 0.5),
      p99: percentile(run.latencies, 0.99),
      serverMicrosPerStep: (busy - processor) / steps,
      rss: memory.rss,
      heapUsed: memory.heapUsed,
      load: loadavg()[0],
    };
    processor = memory.processor;
    series.push(sample);
    console.log(`  ${index + 1}/${count} ${JSON.stringify(sample)}`);
  }
  return series;
}

/**
 * One caller: each call is one step; begin, commit, rewind and abort come with the step before which
 * or after which they are due. A failed call is counted, and the caller goes on with a new
 * transaction.
 */
function caller({ client, index, value, failures }) {
  const committed = new Map();
  let tx = null;
  let transactions = 0;
  let writes = 0;
  let own = new Map();

  const begin = async () => {
    tx = await client.begin();
    transactions += 1;
    own = new Map();
  };
  const end = async () => {
    const ending = tx;
    tx = null;
    if (transactions % ABORTS === 0) return ending.abort();
    await ending.commit();
    for (const [key, text] of own) committed.set(key, text);
  };
  const step = async () => {
    if (tx === null) await begin();
    if (tx.nextStep === STEPS / 2 && transactions % REWINDS === 0 && own.size > 0) {
      await tx.rollback(1);
      own = new Map();
      transactions += 1;
    }
    if (tx.nextStep % 5 === 4) return read();
    const key = `soak-${index}-${writes % KEYS_EACH}`;
    const text = `${writes}-${value}`;
    writes += 1;
    requireSuccess(await tx.step("kv.put", { key, value: text }));
    own.set(key, text);
  };
  /** A key that this caller wrote, in this transaction or one before (S5). */
  const read = async () => {
    const key = `soak-${index}-${Math.max(writes - 1, 0) % KEYS_EACH}`;
    const expected = own.get(key) ?? committed.get(key) ?? null;
    const outcome = requireSuccess(await tx.step("kv.get", { key }));
    const found = outcome.output.value ?? null;
    if (found !== expected) throw new Error(`${key} reads ${found}, not ${expected}`);
  };
  return async () => {
    try {
      await step();
      if (tx.nextStep > STEPS) await end();
    } catch (error) {
      failures.errors += 1;
      failures.firstError ??= String(error);
      await tx?.abort().catch(() => {});
      tx = null;
    }
  };
}

function requireSuccess(outcome) {
  if (outcome.status !== "SUCCESS") throw new Error(`A step ended with ${outcome.status}`);
  return outcome;
}
