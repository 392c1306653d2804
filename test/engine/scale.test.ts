// Goal: size costs what it must and no more: the ten-thousandth step is as cheap as the first, a
// thousand transactions run side by side, and finished ones leave nothing in memory.
//
//   AGENTTX_LONG=1   50,000 transactions instead of 5,000
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createEngine, defineTool } from "@agenttx/engine";
import { openStore } from "@agenttx/storage";
import { kvTools } from "@agenttx/tools";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";

async function start() {
  const path = await mkdtemp(join(tmpdir(), "agenttx-scale-"));
  const store = await openStore({ path });
  const undone: string[] = [];
  const book = defineTool({
    name: "book",
    schema: z.strictObject({ item: z.string() }),
    effect: "reversible",
    execute: ({ item }) => ({ item }),
    compensate: ({ args }) => {
      undone.push(args.item);
    },
  });
  const engine = createEngine({ store, tools: [...kvTools({ prefix: "" }), book] });
  onTestFinished(async () => {
    await engine.close();
    await store.close();
    await rm(path, { recursive: true, force: true });
  });
  return { store, engine, undone };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

it("runs 10,000 steps at a flat price each, refuses one more, and commits", async () => {
  const { engine, store } = await start();
  const tx = await engine.begin();
  const blocks: number[] = [];
  for (let block = 0; block < 10; block += 1) {
    const before = cpuMs();
    for (let index = 0; index < 1_000; index += 1) {
      await tx.step("kv.put", { key: `k${block * 1_000 + index}`, value: index });
    }
    blocks.push(cpuMs() - before);
  }
  await expect(tx.step("kv.put", { key: "more", value: 1 })).rejects.toMatchObject({
    code: "PAYLOAD_TOO_LARGE",
  });
  expect(await tx.commit()).toMatchObject({ stepsCommitted: 10_000 });
  expect(await store.scan({ limit: 100_000 })).toHaveLength(10_000);
  const [early = 0, late = 0] = [Math.min(...blocks.slice(0, 5)), Math.min(...blocks.slice(5))];
  expect(late, `CPU of each 1,000 steps: ${blocks.map(Math.round)}`).toBeLessThan(early * 3);
}, 60_000);

it("runs 1,000 transactions side by side and keeps them apart", async () => {
  const { engine, store, undone } = await start();
  const all = await Promise.all(Array.from({ length: 1_000 }, () => engine.begin()));
  for (const round of [0, 1]) {
    await Promise.all(
      all.map((tx, index) => tx.step("kv.put", { key: `${index}/${round}`, value: index })),
    );
    await Promise.all(all.map((tx, index) => tx.step("book", { item: `${index}/${round}` })));
  }
  await Promise.all(all.map((tx, index) => (index % 2 === 0 ? tx.commit() : tx.abort())));
  const keys = (await store.scan({ limit: 100_000 })).map(({ key }) => Buffer.from(key).toString());
  const odd = (name: string): boolean => Number(name.split("/")[0]) % 2 === 1;
  expect(keys).toHaveLength(1_000);
  expect(keys.filter(odd)).toEqual([]);
  expect(undone).toHaveLength(1_000);
  expect(undone.every(odd)).toBe(true);
  expect(await store.openTransactions()).toEqual([]);
}, 60_000);

it("keeps nothing of finished transactions in memory", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const { engine } = await start();
  const total = process.env.AGENTTX_LONG === "1" ? 50_000 : 5_000;
  let index = 0;
  const run = async (count: number) => {
    for (const end = index + count; index < end; index += 1) {
      const tx = await engine.begin(index % 10 === 0 ? { requestId: `r${index}` } : {});
      await tx.step("kv.put", { key: `k${index % 100}`, value: index });
      if (index % 7 === 0) await tx.step("book", { item: `i${index}` });
      await (index % 5 === 0 ? tx.abort() : tx.commit());
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const warm = await run(1_000);
  const after = await run(total);
  // A hundred bytes for each would be a leak already.
  expect((after - warm) / total).toBeLessThan(total === 5_000 ? 400 : 100);
}, 600_000);
