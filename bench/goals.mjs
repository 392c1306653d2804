// Owns the goals: the one table that the verdict, the Markdown table and the chart read.
//
//   G1 A goal is a ratio, or a figure with much room, that one workload measures under this name.
//   G2 `atMost`: the figure must not be above the goal; `atLeast`: not below it.

/**
 * @typedef {object} Goal
 * @property {string} workload
 * @property {string} name of the ratio in the workload's `ratios`
 * @property {string} what
 * @property {"atMost" | "atLeast"} direction
 * @property {number} goal
 * @property {number | null} stretch
 * @property {string} unit
 * @property {boolean} [long] measured by `--long` only
 */

/** @type {readonly Goal[]} */
export const GOALS = [
  goal("restore", "floor", "restore of 5,000 writes over 1,000 keys, of the floor batch", 1, 0.5),
  goal(
    "restore",
    "floorDistinct",
    "restore of 5,000 writes over 5,000 keys, of its floor",
    0.5,
    0.3,
  ),
  goal(
    "restore",
    "floorStepwise",
    "the same 1,000 keys with a snapshot before every write",
    1,
    0.5,
  ),
  atLeast(
    "restore",
    "entrywise",
    "restore over 1,000 keys, times faster than entry by entry",
    12,
    24,
  ),
  goal("restore", "growth", "restore cost per key, 100,000 keys against 1,000", 1.5, null),
  {
    ...goal(
      "restore",
      "bigDatabase",
      "restore beside 10,000,000 committed keys, of empty",
      1.3,
      1.1,
    ),
    long: true,
  },
  goal("step", "rawPut", "engine step (kv.put), of a raw put from JavaScript", 4, 2.5),
  goal("commit", "floor", "commit of 1,000 keys, of the floor batch", 2, 1.4),
  atLeast("durable", "ofUnsynced", "steps/s with fsync, 64 transactions, of without", 0.5, 0.75),
  atLeast("durable", "stepsPerSync", "steps per fsync, 64 transactions", 16, 40, "steps"),
  goal("hints", "micros4KiB", "hint from a stack trace of 4 KiB, median", 10, 3, "us"),
  goal("hints", "linearity", "cost per byte, worst of 4..64 KiB against 2 KiB", 1.5, null),
  goal("policy", "millisDecision", "decision with 1,000 steps and 10,000 edges", 1, 0.1, "ms"),
  goal("start", "secondsToServing", "serving with 10,000 open transactions found", 2, null, "s"),
  goal("memory", "kibPerIdle", "memory of an idle open transaction", 4, 1, "KiB"),
  goal("session", "streamEcho", "step over the session stream, of a bare echo", 1.5, 1.2),
  atLeast("session", "throughputOfEcho", "steps/s at 64 sessions, of echo messages/s", 0.5, 0.75),
  goal(
    "soak",
    "memoryGrowth",
    "memory of the server under load, last quarter of second",
    1.05,
    null,
  ),
  goal("soak", "latencyGrowth", "latency of a step under load, last quarter of second", 1.25, null),
];

function goal(workload, name, what, limit, stretch, unit = "x") {
  return { workload, name, what, direction: "atMost", goal: limit, stretch, unit };
}

function atLeast(workload, name, what, limit, stretch, unit = "x") {
  return { workload, name, what, direction: "atLeast", goal: limit, stretch, unit };
}

/**
 * The goals of a workload with what was measured; one that was not measured is left out.
 * @param {string} workload
 * @param {Readonly<Record<string, number>>} ratios
 */
export function judge(workload, ratios) {
  return GOALS.filter((entry) => entry.workload === workload && entry.name in ratios).map(
    (entry) => {
      const measured = ratios[entry.name];
      const reaches = (limit) =>
        entry.direction === "atMost" ? measured <= limit : measured >= limit;
      return {
        ...entry,
        measured,
        met: reaches(entry.goal),
        stretchMet: entry.stretch === null ? null : reaches(entry.stretch),
      };
    },
  );
}
