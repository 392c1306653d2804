// Owns the command line of the bench.
import { parseArgs } from "node:util";

export const USAGE =
  "usage: pnpm bench [name] [--json] [--long | --quick] [--seed N] [--save]\n" +
  "       pnpm bench soak [--minutes N] …\n" +
  "names: restore step commit durable throughput hints policy memory start session soak\n";

/** A week. */
const MINUTES_MAX = 7 * 24 * 60;

/** `problem` is null when the arguments make sense. */
export function parseArguments(args, names) {
  const none = {
    name: null,
    json: false,
    long: false,
    quick: false,
    save: false,
    seed: 1,
    minutes: null,
  };
  let parsed;
  try {
    parsed = parseArgs({
      args: args.filter((argument) => argument !== "--"),
      allowPositionals: true,
      options: {
        json: { type: "boolean", default: false },
        long: { type: "boolean", default: false },
        quick: { type: "boolean", default: false },
        save: { type: "boolean", default: false },
        seed: { type: "string", default: "1" },
        minutes: { type: "string" },
      },
    });
  } catch (error) {
    return { ...none, problem: error.message };
  }
  const { values, positionals } = parsed;
  const [name = null] = positionals;
  const seed = Number(values.seed);
  const minutes = values.minutes === undefined ? null : Number(values.minutes);
  // A smoke run measures nothing worth keeping.
  const save = values.save || (name === null && !values.quick);
  const options = { ...values, seed, minutes, name, save };
  return { ...options, problem: problemOf(options, positionals.length, names) };
}

function problemOf({ name, seed, minutes, long, quick }, count, names) {
  if (count > 1) return "at most one workload is named";
  if (name !== null && !names.includes(name)) return `there is no workload ${name}`;
  if (!Number.isSafeInteger(seed) || seed < 0) return "the seed is a whole number from 0";
  if (minutes !== null && name !== "soak") return "--minutes belongs to soak";
  if (minutes !== null && !(minutes > 0 && minutes <= MINUTES_MAX)) {
    return `the minutes are a number above 0, at most ${MINUTES_MAX}`;
  }
  return long && quick ? "--long and --quick exclude each other" : null;
}
