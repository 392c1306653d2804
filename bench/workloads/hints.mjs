// Owns the hints workload: one hint from real-looking stack traces of 2 to 64 KiB, in three
// shapes: a Python traceback, a Java trace with causes, a Node error with its stack.
import { deepEqual } from "node:assert/strict";
import { cleanError } from "@agenttx/hints";
import { Bench } from "tinybench";
import { seeded } from "../harness/random.mjs";
import { median, round, summary } from "../harness/samples.mjs";

export const title = "Hints: from a raw error to one line";
export const drivers = { "cleanError (pure, in memory)": "none" };

const KIB = 1_024;
const SIZES_KIB = [2, 4, 8, 16, 32, 64];
const EXPECTED = { category: "foreign_key_violation", key: "customer_id" };

export const trials = { clean: cleanTrial };

export async function run(bench) {
  const results = await bench.trials("clean", bench.pick({ quick: 1, normal: 2, long: 4 }), {
    rounds: bench.pick({ quick: 2, normal: 5, long: 10 }),
    timeMs: bench.pick({ quick: 5, normal: 40, long: 200 }),
  });
  const figures = {};
  for (const shape of Object.keys(SHAPES)) {
    figures[shape] = Object.fromEntries(
      SIZES_KIB.map((size) => [`${size} KiB`, summary(medians(results, shape, size))]),
    );
  }
  // The slowest shape decides.
  const at = (size) => Object.keys(SHAPES).map((shape) => median(medians(results, shape, size)));
  const perByte = SIZES_KIB.map((size) => Math.max(...at(size)) / size);
  return {
    ratios: {
      micros4KiB: round(Math.max(...at(4))),
      linearity: round(Math.max(...perByte.slice(1)) / perByte[0]),
      millis64KiB: round(Math.max(...at(64)) / 1_000),
    },
    figures,
  };
}

function medians(results, shape, size) {
  return results.flatMap((trial) => trial[`${shape} ${size}`]);
}

/** Median microseconds per round, sizes and shapes in turns. */
async function cleanTrial({ seed, rounds, timeMs }) {
  const random = seeded(seed);
  const inputs = Object.entries(SHAPES).flatMap(([shape, make]) =>
    SIZES_KIB.map((size) => ({ name: `${shape} ${size}`, raw: make(size * KIB, random) })),
  );
  for (const { raw } of inputs) {
    const { category, key } = cleanError(raw);
    deepEqual({ category, key }, EXPECTED);
  }
  const samples = Object.fromEntries(inputs.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    const loop = new Bench({ time: timeMs, iterations: 16, warmup: round === 0 });
    for (const { name, raw } of inputs) loop.add(name, () => cleanError(raw));
    await loop.run();
    for (const { name, result } of loop.tasks) {
      if (result.state !== "completed") throw new Error(`${name}: ${result.state}`);
      // Milliseconds.
      if (round > 0) samples[name].push(result.latency.p50 * 1_000);
    }
  }
  return samples;
}

const DETAIL =
  'insert or update on table "orders" violates foreign key constraint "orders_customer_id_fkey"';
const KEY_LINE = 'Key (customer_id)=(90417) is not present in table "customers".';

const SHAPES = {
  python: (bytes, random) =>
    fill(bytes, {
      head: "Traceback (most recent call last):\n",
      frame: () =>
        `  File "/srv/app/${word(random)}/${word(random)}.py", line ${number(random)}, in ${word(random)}\n` +
        `    return self.${word(random)}(${word(random)}, timeout=${number(random)})\n`,
      tail: `psycopg2.errors.ForeignKeyViolation: ${DETAIL}\nDETAIL:  ${KEY_LINE}\n`,
    }),
  java: (bytes, random) =>
    fill(bytes, {
      head: "org.springframework.dao.DataIntegrityViolationException: could not execute statement\n",
      frame: () =>
        `\tat com.example.${word(random)}.${word(random)}Service.${word(random)}(${word(random)}.java:${number(random)})\n`,
      tail: `Caused by: org.postgresql.util.PSQLException: ERROR: ${DETAIL}\n  Detail: ${KEY_LINE}\n\t... 61 more\n`,
    }),
  node: (bytes, random) =>
    fill(bytes, {
      head: `error: ${DETAIL}\nDETAIL:  ${KEY_LINE}\n`,
      frame: () =>
        `    at async ${word(random)} (/srv/app/node_modules/${word(random)}/lib/${word(random)}.js:${number(random)}:${number(random)})\n`,
      tail: "",
    }),
};

function fill(bytes, { head, frame, tail }) {
  let text = head;
  for (;;) {
    const next = frame();
    if (text.length + next.length + tail.length > bytes) break;
    text += next;
  }
  return text + tail;
}

const SYLLABLES = ["or", "der", "ship", "cart", "user", "pay", "stock", "load", "map", "item"];

function word(random) {
  const syllable = () => SYLLABLES[Math.floor(random() * SYLLABLES.length)];
  return `${syllable()}${syllable()}${syllable()}`;
}

function number(random) {
  return Math.floor(random() * 900) + 10;
}
