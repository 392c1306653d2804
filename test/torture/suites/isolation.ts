// Owns the Hermitage cases on our API (H1): each anomaly is tried at each level, and what happens
// has to be the documented thing. An anomaly that is documented as possible has to be seen.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "@agenttx/storage";
import { openMemoryStore } from "@agenttx/storage/memory";
import { ANOMALIES, type Anomaly, LEVELS, type Level } from "../isolation/anomalies.js";
import { Bench } from "../isolation/bench.js";
import { type Suite, weaknesses } from "../suite.js";

async function tryOne(store: Store, anomaly: Anomaly, level: Level, prefix: string) {
  const bench = new Bench(store, level, prefix);
  const seen = await anomaly.run(bench);
  await bench.end();
  return seen;
}

async function tryAll(store: Store, round: number, counts: Map<string, number>) {
  const violations: string[] = [];
  for (const anomaly of ANOMALIES) {
    for (const level of LEVELS) {
      const seen = await tryOne(
        store,
        anomaly,
        level,
        `${store.driver}-${round}-${anomaly.name}-${level}/`,
      );
      counts.set(seen, (counts.get(seen) ?? 0) + 1);
      const documented = anomaly.documented[level];
      if (seen !== documented) {
        violations.push(
          `${store.driver}: ${anomaly.name} at ${level} is ${seen}, documented as ${documented}`,
        );
      }
    }
  }
  return violations;
}

export const isolation: Suite = {
  name: "isolation",
  about: "the Hermitage cases: every documented anomaly seen, every other one refused (H1)",
  async run({ seconds }) {
    const ends = Date.now() + seconds * 1_000;
    const path = await mkdtemp(join(tmpdir(), "agenttx-torture-"));
    const stores = [openMemoryStore(), await openStore({ path })];
    const violations: string[] = [];
    const counts = new Map<string, number>();
    let rounds = 0;
    try {
      // The cases have no chance in them; a few rounds show that none depends on what was before.
      for (; rounds === 0 || (Date.now() < ends && rounds < 20); rounds += 1) {
        for (const store of stores) violations.push(...(await tryAll(store, rounds, counts)));
      }
    } finally {
      for (const store of stores) await store.close();
      await rm(path, { recursive: true, force: true });
    }
    return {
      cycles: rounds * stores.length * ANOMALIES.length * LEVELS.length,
      violations: violations.slice(0, 100),
      figures: Object.fromEntries(counts),
      weak: weaknesses({
        "an anomaly was seen": (counts.get("seen") ?? 0) > 0,
        "a conflict was refused": (counts.get("refused") ?? 0) > 0,
      }),
      cursor: null,
    };
  },
};
