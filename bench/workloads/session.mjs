// Owns the session workload: a step over each of the server's faces against a bare echo on the same
// transport, and steps per second at 1 to 256 sessions. Server, echo and client are three
// processes. A step is kv.put with 256 bytes and all its durable records; an echo carries as many
// bytes both ways.
import { strictEqual } from "node:assert/strict";
import { createClient } from "@agenttx/client";
import { DURABILITY as OURS } from "../drivers/agenttx.mjs";
import { openEcho } from "../drivers/echo.mjs";
import { openHttp } from "../drivers/http.mjs";
import { seeded, textOf } from "../harness/random.mjs";
import { median, pooled, ratiosOf, round } from "../harness/samples.mjs";
import { interleave } from "../harness/timing.mjs";
import { startServerProcess } from "../servers/server-process.mjs";

export const title = "Session: steps through the server";
export const drivers = {
  "AgentTx server": OURS,
  "bare echo on the same transport": "nothing is stored",
};

/** About what an encoded step request has. */
const ECHO_BYTES = 380;

export const trials = { latency: latencyTrial, load: loadTrial };

export async function run(bench) {
  const processes = bench.pick({ quick: 1, normal: 2, long: 4 });
  const latency = await bench.trials("latency", processes, {
    calls: bench.pick({ quick: 20, normal: 100 }),
    rounds: bench.pick({ quick: 2, normal: 8, long: 60 }),
  });
  const load = await bench.trials("load", bench.pick({ quick: 1, normal: 1, long: 3 }), {
    sessions: bench.pick({ quick: [1, 64], normal: [1, 8, 64, 256] }),
    stepsEach: bench.pick({ quick: 5, normal: 20, long: 50 }),
    rounds: bench.pick({ quick: 1, normal: 3, long: 15 }),
  });
  const { ratios, quiet } = ratiosOf(latency, {
    streamEcho: ["step, session stream", "echo, stream"],
    unaryEcho: ["step, unary", "echo, unary"],
    httpEcho: ["step, HTTP", "echo, HTTP"],
    unaryOfStream: ["step, unary", "step, session stream"],
  });
  const rates = ratiosOf(
    load.map(({ rates: trial }) => trial),
    { throughputOfEcho: ["steps/s at 64 sessions", "echoes/s at 64 streams"] },
  );
  return {
    ratios: { ...ratios, ...rates.ratios, kibPerSession: kibPerSession(load) },
    quietRatios: quiet,
    figures: {
      "one call at a time": pooled(latency),
      "calls per second": pooled(load.map(({ rates: trial }) => trial)),
      "latency under load": pooled(load.map(({ latencies }) => latencies)),
    },
  };
}

function kibPerSession(load) {
  return round(median(load.map(({ bytesPerSession }) => bytesPerSession)) / 1_024);
}

async function withServers(directory, work) {
  const server = await startServerProcess("agenttx", { dataDir: directory });
  const echo = await startServerProcess("echo", {});
  try {
    return await work({ server, echo });
  } finally {
    await Promise.all([server.stop(), echo.stop()]);
  }
}

function latencyTrial({ directory, seed, calls, rounds }) {
  return withServers(directory, async ({ server, echo }) => {
    const value = textOf(256, seeded(seed));
    const bytes = Buffer.alloc(ECHO_BYTES, 1);
    const address = `127.0.0.1:${server.grpcPort}`;
    const session = createClient({ address });
    const unary = createClient({ address, transport: "unary" });
    const http = openHttp(server.httpPort);
    const echoes = openEcho(echo.grpcPort);
    const stream = echoes.stream();
    const echoHttp = openHttp(echo.httpPort);
    const each = (call) => () => timedCalls(calls, call);
    const requireEcho = ({ length }) => strictEqual(length, ECHO_BYTES);
    const samples = await interleave(
      {
        "step, session stream": () => timedSteps(session, calls, value),
        "echo, stream": each(async () => requireEcho(await stream.call(bytes))),
        "step, unary": () => timedSteps(unary, calls, value),
        "echo, unary": each(async () => requireEcho(await echoes.unary(bytes))),
        "step, HTTP": () => timedHttpSteps(http, calls, value),
        "echo, HTTP": each(() => echoHttp.post("/", { value })),
      },
      { rounds, warmUp: 3 },
    );
    stream.close();
    echoes.close();
    http.close();
    echoHttp.close();
    await session.close();
    await unary.close();
    return samples;
  });
}

async function timedCalls(calls, call) {
  const samples = [];
  for (let index = 0; index < calls; index += 1) {
    const started = performance.now();
    await call(index);
    samples.push((performance.now() - started) * 1_000);
  }
  return samples;
}

async function timedSteps(client, calls, value) {
  const tx = await client.begin();
  const samples = await timedCalls(calls, (index) => stepOnce(tx, index, value));
  strictEqual(tx.nextStep, calls + 1);
  const { stepsCommitted } = await tx.commit();
  strictEqual(stepsCommitted, calls);
  return samples;
}

async function stepOnce(tx, index, value) {
  const outcome = await tx.step("kv.put", { key: `${tx.id}-${index}`, value });
  if (outcome.status !== "SUCCESS") throw new Error(`A step ended with ${outcome.status}`);
}

async function timedHttpSteps(http, calls, value) {
  const { transactionId } = await http.post("/v1/transactions", {});
  const path = `/v1/transactions/${transactionId}`;
  const samples = await timedCalls(calls, async (index) => {
    const answer = await http.post(`${path}/steps`, {
      stepId: index + 1,
      toolName: "kv.put",
      argumentsJson: JSON.stringify({ key: `${transactionId}-${index}`, value }),
    });
    strictEqual(answer.nextStepId, index + 2);
  });
  await http.post(`${path}/commit`, {});
  return samples;
}

function loadTrial({ directory, seed, sessions, stepsEach, rounds }) {
  return withServers(directory, async ({ server, echo }) => {
    const value = textOf(256, seeded(seed));
    const bytes = Buffer.alloc(ECHO_BYTES, 1);
    const address = `127.0.0.1:${server.grpcPort}`;
    const most = Math.max(...sessions);
    const echoes = openEcho(echo.grpcPort);
    const streams = Array.from({ length: most }, () => echoes.stream());
    const before = await server.memory();
    const clients = Array.from({ length: most }, () => createClient({ address }));
    // Each session's stream is there before its memory is counted.
    for (const client of clients) await (await client.begin()).abort();
    const after = await server.memory();
    const latencies = Object.fromEntries(
      sessions.map((count) => [`step at ${count} sessions`, []]),
    );
    const turns = sessions.flatMap((count) => [
      [
        `steps/s at ${count} sessions`,
        () =>
          stepRate(
            clients.slice(0, count),
            stepsEach,
            value,
            latencies[`step at ${count} sessions`],
          ),
      ],
      [`echoes/s at ${count} streams`, () => echoRate(streams.slice(0, count), stepsEach, bytes)],
    ]);
    const rates = await interleave(Object.fromEntries(turns), { rounds, warmUp: 1 });
    for (const stream of streams) stream.close();
    echoes.close();
    await Promise.all(clients.map((client) => client.close()));
    return { rates, latencies, bytesPerSession: (after.rss - before.rss) / most };
  });
}

async function stepRate(clients, stepsEach, value, latencies) {
  const open = await Promise.all(clients.map((client) => client.begin()));
  const started = performance.now();
  const all = await Promise.all(
    open.map((tx) => timedCalls(stepsEach, (index) => stepOnce(tx, index, value))),
  );
  const seconds = (performance.now() - started) / 1_000;
  for (const samples of all) latencies.push(...samples);
  await Promise.all(open.map((tx) => tx.commit()));
  return (open.length * stepsEach) / seconds;
}

async function echoRate(streams, callsEach, bytes) {
  const started = performance.now();
  await Promise.all(streams.map((stream) => timedCalls(callsEach, () => stream.call(bytes))));
  return (streams.length * callsEach) / ((performance.now() - started) / 1_000);
}
