// Owns the table of anomalies: how each is tried, and what docs/guarantees.md says of each level.
// `seen`: both committed and the anomaly is there. `refused`: one commit was a conflict.
// `prevented`: all went through, and the anomaly is not there.
import type { Bench, Tx } from "./bench.js";

export const LEVELS = ["default", "validate", "serializable"] as const;
export type Level = (typeof LEVELS)[number];
export type Outcome = "seen" | "refused" | "prevented";

export interface Anomaly {
  readonly name: string;
  readonly documented: Readonly<Record<Level, Outcome>>;
  run(bench: Bench): Promise<Outcome>;
}

function always(outcome: Outcome): Readonly<Record<Level, Outcome>> {
  return { default: outcome, validate: outcome, serializable: outcome };
}

const SEEN_BY_DEFAULT: Readonly<Record<Level, Outcome>> = {
  default: "seen",
  validate: "refused",
  serializable: "refused",
};

function outcome(committed: boolean, isSeen: boolean): Outcome {
  if (!committed) return "refused";
  return isSeen ? "seen" : "prevented";
}

async function two(bench: Bench): Promise<[Tx, Tx]> {
  return [await bench.begin(), await bench.begin()];
}

/** Two write the same two keys in turn; afterwards both are of one of them. */
async function dirtyWrite(bench: Bench): Promise<Outcome> {
  await bench.set({ a: "0", b: "0" });
  const [one, other] = await two(bench);
  await one.put("a", "1");
  await other.put("a", "2");
  await one.put("b", "1");
  const first = await one.commit();
  await other.put("b", "2");
  const second = await other.commit();
  const isMixed = (await bench.committed("a")) !== (await bench.committed("b"));
  return outcome(first && second, isMixed);
}

async function abortedRead(bench: Bench): Promise<Outcome> {
  await bench.set({ a: "0" });
  const [writer, reader] = await two(bench);
  await writer.put("a", "1");
  const dirty = await reader.get("a");
  await writer.abort();
  const after = await reader.get("a");
  return outcome(await reader.commit(), dirty !== "0" || after !== "0");
}

async function intermediateRead(bench: Bench): Promise<Outcome> {
  await bench.set({ a: "0" });
  const [writer, reader] = await two(bench);
  await writer.put("a", "1");
  const between = await reader.get("a");
  await writer.put("a", "2");
  await writer.abort();
  return outcome(await reader.commit(), between !== "0");
}

async function circularFlow(bench: Bench): Promise<Outcome> {
  await bench.set({ a: "0", b: "0" });
  const [one, other] = await two(bench);
  await one.put("a", "1");
  await other.put("b", "2");
  const seenByOne = await one.get("b");
  const seenByOther = await other.get("a");
  const first = await one.commit();
  const second = await other.commit();
  return outcome(first && second, seenByOne !== "0" || seenByOther !== "0");
}

/** A reader that has seen part of a commit sees the rest of it, or a later one. */
async function vanishes(bench: Bench): Promise<Outcome> {
  await bench.set({ a: "0", b: "0" });
  await bench.set({ a: "1", b: "1" });
  const reader = await bench.begin();
  const a = await reader.get("a");
  const [writer] = [await bench.begin()];
  await writer.put("a", "2");
  await writer.put("b", "2");
  const b = await reader.get("b");
  await writer.abort();
  return outcome(await reader.commit(), a !== "1" || b !== "1");
}

async function phantom(bench: Bench): Promise<Outcome> {
  await bench.set({ a: "1" });
  const reader = await bench.begin();
  const before = await reader.keys();
  if (before === null) {
    await reader.abort();
    return "refused";
  }
  await bench.set({ b: "1" });
  const after = await reader.keys();
  await reader.put("mine", "1");
  return outcome(await reader.commit(), before.length !== after?.length);
}

function lostUpdate(change: (tx: Tx) => Promise<void>) {
  return async (bench: Bench): Promise<Outcome> => {
    await bench.set({ a: "0" });
    const [one, other] = await two(bench);
    await one.get("a");
    await other.get("a");
    await one.put("a", "1");
    const first = await one.commit();
    await change(other);
    const second = await other.commit();
    return outcome(first && second, true);
  };
}

/** Both write without having read; the second one saw the key before the first committed. */
async function blindWrite(bench: Bench): Promise<Outcome> {
  await bench.set({ a: "0" });
  const [one, other] = await two(bench);
  await one.put("a", "1");
  await other.put("a", "2");
  const first = await one.commit();
  return outcome(first && (await other.commit()), true);
}

async function recreated(bench: Bench): Promise<Outcome> {
  await bench.set({ a: "0" });
  const tx = await bench.begin();
  await tx.get("a");
  await bench.set({ a: null });
  await bench.set({ a: "0" });
  await tx.put("a", "mine");
  return outcome(await tx.commit(), true);
}

async function createdTwice(bench: Bench): Promise<Outcome> {
  const [one, other] = await two(bench);
  await one.get("a");
  await other.get("a");
  await one.put("a", "1");
  await other.put("a", "2");
  const first = await one.commit();
  return outcome(first && (await other.commit()), true);
}

async function tombstoneConflict(bench: Bench): Promise<Outcome> {
  await bench.set({ a: "0" });
  const tx = await bench.begin();
  await tx.delete("a");
  await bench.set({ a: "1" });
  return outcome(await tx.commit(), true);
}

/** A restore to before a write does not forget that the key was seen before the snapshot. */
async function seenBeforeRestore(bench: Bench): Promise<Outcome> {
  await bench.set({ a: "0" });
  const tx = await bench.begin();
  await tx.get("a");
  await tx.inner.createSnapshot(2);
  await tx.put("a", "1");
  await tx.inner.restoreSnapshot(2);
  await bench.set({ a: "2" });
  await tx.put("a", "3");
  return outcome(await tx.commit(), true);
}

async function nonRepeatable(bench: Bench): Promise<Outcome> {
  await bench.set({ a: "0" });
  const reader = await bench.begin();
  const before = await reader.get("a");
  await bench.set({ a: "1" });
  const after = await reader.get("a");
  await reader.put("mine", "1");
  return outcome(await reader.commit(), before !== after);
}

/** One key of before a commit, and one of after it. */
async function readSkew(bench: Bench): Promise<Outcome> {
  await bench.set({ a: "0", b: "0" });
  const reader = await bench.begin();
  const a = await reader.get("a");
  await bench.set({ a: "1", b: "1" });
  const b = await reader.get("b");
  await reader.put("mine", "1");
  return outcome(await reader.commit(), a !== b);
}

async function absentRead(bench: Bench): Promise<Outcome> {
  const reader = await bench.begin();
  const before = await reader.get("a");
  await bench.set({ a: "1" });
  await reader.put("mine", "1");
  return outcome(await reader.commit(), before === null);
}

/** Each reads what the other writes. */
async function writeSkew(bench: Bench): Promise<Outcome> {
  await bench.set({ a: "on", b: "on" });
  const [one, other] = await two(bench);
  await one.get("b");
  await other.get("a");
  await one.put("a", "off");
  await other.put("b", "off");
  const first = await one.commit();
  const second = await other.commit();
  const isSeen = (await bench.committed("a")) === "off" && (await bench.committed("b")) === "off";
  return outcome(first && second, isSeen);
}

/** Write skew over a range: each adds a key that the other's scan did not see. */
async function predicateSkew(bench: Bench): Promise<Outcome> {
  const [one, other] = await two(bench);
  const scans = [await one.keys(), await other.keys()];
  if (scans.includes(null)) {
    await one.abort();
    await other.abort();
    return "refused";
  }
  await one.put("a", "1");
  await other.put("b", "1");
  const first = await one.commit();
  return outcome(first && (await other.commit()), true);
}

const IN_SCANS: Readonly<Record<Level, Outcome>> = {
  default: "seen",
  validate: "seen",
  serializable: "refused",
};

export const ANOMALIES: readonly Anomaly[] = [
  { name: "G0 dirty write", documented: always("refused"), run: dirtyWrite },
  { name: "G1a aborted read", documented: always("prevented"), run: abortedRead },
  { name: "G1b intermediate read", documented: always("prevented"), run: intermediateRead },
  {
    // Whoever reads what the other overwrites is refused where reads are validated.
    name: "G1c circular flow",
    documented: { default: "prevented", validate: "refused", serializable: "refused" },
    run: circularFlow,
  },
  { name: "OTV observed vanishes", documented: always("prevented"), run: vanishes },
  { name: "PMP phantom", documented: IN_SCANS, run: phantom },
  {
    name: "P4 lost update",
    documented: always("refused"),
    run: lostUpdate((tx) => tx.put("a", "2")),
  },
  {
    name: "P4 by deletion",
    documented: always("refused"),
    run: lostUpdate((tx) => tx.delete("a")),
  },
  { name: "P4 blind write", documented: always("refused"), run: blindWrite },
  { name: "P4 delete and recreate", documented: always("refused"), run: recreated },
  { name: "P4 created twice", documented: always("refused"), run: createdTwice },
  { name: "P4 tombstone", documented: always("refused"), run: tombstoneConflict },
  { name: "P4 seen before a restore", documented: always("refused"), run: seenBeforeRestore },
  { name: "P2 non-repeatable read", documented: SEEN_BY_DEFAULT, run: nonRepeatable },
  { name: "G-single read skew", documented: SEEN_BY_DEFAULT, run: readSkew },
  { name: "G-single absent key", documented: SEEN_BY_DEFAULT, run: absentRead },
  { name: "G2-item write skew", documented: SEEN_BY_DEFAULT, run: writeSkew },
  { name: "G2 over a range", documented: IN_SCANS, run: predicateSkew },
];
