// Owns the long model run (M1, M4): random operations on the reference store and on RocksDB, each
// answer compared, restarts included, and all that both hold at the end of a sequence.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "@agenttx/storage";
import { openMemoryStore } from "@agenttx/storage/memory";
import * as fc from "fast-check";
import {
  type Operation,
  operation,
  perform,
  type Slots,
  shown,
} from "../../property/store-operations.js";
import { type Suite, seedOf, weaknesses } from "../suite.js";

const COMMANDS_PER_SEQUENCE = 400;
/** Sequences at once, each on stores of its own: one waits for its disk while another goes on. */
const LANES = 4;
const SPACES = ["saga", "effect", "outbox", "request", "terminal", "late", "meta"] as const;
const sequence = fc.array(operation, {
  minLength: COMMANDS_PER_SEQUENCE,
  maxLength: COMMANDS_PER_SEQUENCE,
  size: "max",
});

function slotsOf(store: Store, restart: () => Promise<Store>): Slots {
  return { store, restart, open: new Map(), ids: [], commits: 0, conflicts: 0 };
}

async function everything({ store, ids, open }: Slots): Promise<string> {
  const committed = await store.scan();
  const parts: unknown[] = [committed];
  for (const { key } of committed) parts.push((await store.getVersioned(key))?.version);
  for (const space of SPACES) {
    const rows = await store.scanRecords(space, { transaction: null });
    parts.push(rows.map(shown).sort());
  }
  for (const id of ids) {
    parts.push(await store.readAudit(id), await store.scanRecords("output", { transaction: id }));
  }
  parts.push(await store.readAudit(null), (await store.stats()).commitVersion);
  for (const [slot, tx] of [...open].sort(([one], [other]) => one - other)) {
    const { owner, attempt, step, snapshot, payload } = tx.header();
    const overlay = await tx.getMany(["a", "a/", "a\u0000", Uint8Array.of(0xff, 0xff)]);
    parts.push([slot, tx.id, owner, attempt, step, snapshot, payload, overlay, tx.touched()]);
  }
  return shown(parts);
}

/** The first difference, or null. */
async function compare(both: readonly [Slots, Slots], drawn: readonly Operation[]) {
  for (const [index, each] of drawn.entries()) {
    const expected = await perform(both[0], each);
    const answer = await perform(both[1], each);
    if (answer !== expected) {
      return `command ${index} ${shown(each)} answers ${answer}, the reference ${expected}`;
    }
  }
  const [expected, actual] = [await everything(both[0]), await everything(both[1])];
  return actual === expected ? null : `at the end there is ${actual}, the reference ${expected}`;
}

async function runSequence(seed: number) {
  const [drawn] = fc.sample(sequence, { seed, numRuns: 1 });
  const path = await mkdtemp(join(tmpdir(), "agenttx-torture-"));
  const memory = openMemoryStore();
  let store = await openStore({ path });
  const reference = slotsOf(memory, async () => {
    await memory.reopen();
    return memory;
  });
  const rocks = slotsOf(store, async () => {
    await store.close();
    store = await openStore({ path });
    return store;
  });
  try {
    return { difference: await compare([reference, rocks], drawn ?? []), rocks };
  } finally {
    await store.close();
    await memory.close();
    await rm(path, { recursive: true, force: true });
  }
}

export const model: Suite = {
  name: "model",
  about: "random operations, answered by RocksDB as by the reference store (M1, M4)",
  async run({ seed, seconds, cursor }) {
    const ends = Date.now() + seconds * 1_000;
    const violations: string[] = [];
    const first = Number(cursor ?? 0);
    let number = first;
    let commits = 0;
    let conflicts = 0;
    const lane = async () => {
      while (Date.now() < ends || number === first) {
        const own = number;
        number += 1;
        const { difference, rocks } = await runSequence(seedOf(seed, own));
        if (difference !== null) violations.push(`sequence ${own}: ${difference}`.slice(0, 2_000));
        commits += rocks.commits;
        conflicts += rocks.conflicts;
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    const sequences = number - first;
    return {
      cycles: sequences * COMMANDS_PER_SEQUENCE,
      violations: violations.slice(0, 100),
      figures: { sequences, commits, conflicts },
      weak: weaknesses({
        "at least one commit in five conflicts": conflicts * 5 >= commits,
        "at least five commits a sequence": commits >= sequences * 5,
      }),
      cursor: String(number),
    };
  },
};
