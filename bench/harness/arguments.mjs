// Owns the command line of the bench.
import { parseArgs } from "node:util";

export const USAGE =
  "usage: pnpm bench [name] [--json] [--long | --quick] [--seed N] [--save]\n" +
  "names: restore step commit durable throughput hints policy memory start session\n";

/** `problem` is null when the arguments make sense. */
export function parseArguments(args, names) {
  const none = { name: null, json: false, long: false, quick: false, save: false, seed: 1 };
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
      },
    });
  } catch (error) {
    return { ...none, problem: error.message };
  }
  const { values, positionals } = parsed;
  const [name = null] = positionals;
  const seed = Number(values.seed);
  // A smoke run measures nothing worth keeping.
  const save = values.save || (name === null && !values.quick);
  const options = { ...values, seed, name, save };
  return { ...options, problem: problemOf(options, positionals.length, names) };
}

function problemOf({ name, seed, long, quick }, count, names) {
  if (count > 1) return "at most one workload is named";
  if (name !== null && !names.includes(name)) return `there is no workload ${name}`;
  if (!Number.isSafeInteger(seed) || seed < 0) return "the seed is a whole number from 0";
  return long && quick ? "--long and --quick exclude each other" : null;
}
