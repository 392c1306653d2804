// Goal: a server that is killed in the middle of its work has lost nothing that it acknowledged and
// done nothing twice, and nobody has to help its clients. Method: 64 clients begin, act, write and
// commit without end; the process gets SIGKILL again and again; effects are lines in a file that
// outlives it. AGENTTX_LONG=1 kills 50 times.

import { setTimeout as delay } from "node:timers/promises";
import { type AgentTxClient, createClient } from "@agenttx/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServerPlace } from "./server-process.js";

const CYCLES = process.env.AGENTTX_LONG === "1" ? 50 : 5;
const CLIENTS = 64;
const LOAD_MS = 1_500;

let place: ServerPlace;
beforeAll(async () => {
  place = await ServerPlace.make();
});
afterAll(() => place.remove());

interface Committed {
  readonly id: string;
  readonly version: bigint;
  readonly text: string;
}

/** One client's life: transactions until it is told to stop. It handles no error at all. */
async function work(client: AgentTxClient, name: string, stop: AbortSignal): Promise<Committed[]> {
  const committed: Committed[] = [];
  for (let count = 0; !stop.aborted; count += 1) {
    const text = `${name}/${count}`;
    const tx = await client.begin({ agentId: name });
    const acted = await tx.step("effect.do", { text });
    const written = await tx.step("kv.put", { key: text, value: count });
    expect([acted.status, written.status]).toEqual(["SUCCESS", "SUCCESS"]);
    const { commitVersion } = await tx.commit();
    committed.push({ id: tx.id, version: commitVersion, text });
  }
  return committed;
}

/** Text -> keys whose effect is there: done and not undone. A repeated key is one effect. */
function standing(): Map<string, Set<string>> {
  const texts = new Map<string, Set<string>>();
  const byKey = new Map<string, string>();
  for (const line of place.effects()) {
    const [what, key = "", text = ""] = line.split(" ");
    if (what === "do") {
      byKey.set(key, text);
      texts.set(text, (texts.get(text) ?? new Set()).add(key));
    } else if (what === "undo") texts.get(byKey.get(key) ?? "")?.delete(key);
  }
  return texts;
}

describe(`SIGKILL, ${CYCLES} times, under ${CLIENTS} clients`, () => {
  it(
    "loses no acknowledged commit, does nothing twice, and every client goes on",
    async () => {
      let server = await place.start();
      const stop = new AbortController();
      const clients = Array.from({ length: CLIENTS }, () =>
        createClient({ address: place.address, deadlineMs: 120_000 }),
      );
      const lives = clients.map((client, index) => work(client, `c${index}`, stop.signal));
      const broken = Promise.race(lives.map((life) => life.then(() => undefined)));
      broken.catch(() => {});
      for (let cycle = 0; cycle < CYCLES; cycle += 1) {
        await Promise.race([delay(LOAD_MS), broken]);
        server.child.kill("SIGKILL");
        expect((await server.ended).signal).toBe("SIGKILL");
        server = await place.start();
      }
      await Promise.race([delay(LOAD_MS), broken]);
      stop.abort();
      const committed = (await Promise.all(lives)).flat();

      expect(committed.length).toBeGreaterThan(CLIENTS * 2);
      const names = new Set(committed.map(({ text }) => text.split("/")[0]));
      expect(names.size, "every client has committed").toBe(CLIENTS);
      // 0: the process died between the commit and the note of its version, which is not repeated.
      const versions = committed.map(({ version }) => version).filter((version) => version !== 0n);
      expect(new Set(versions).size).toBe(versions.length);

      const [reader] = clients;
      if (reader === undefined) throw new Error("no client");
      const kept = await reader.list({ statuses: ["COMMITTED"], limit: 1_000_000 });
      expect(kept.map(({ id }) => id).sort()).toEqual(committed.map(({ id }) => id).sort());
      const effects = standing();
      const wrong = committed.filter(({ text }) => effects.get(text)?.size !== 1);
      expect(wrong, "committed, but the effect is not there exactly once").toEqual([]);
      const known = new Set(committed.map(({ text }) => text));
      const orphans = [...effects].filter(([text, keys]) => keys.size > 0 && !known.has(text));
      expect(orphans, "effects that nobody committed").toEqual([]);

      const tx = await reader.begin();
      for (const { text } of committed.slice(-300)) {
        const read = await tx.step("kv.get", { key: text });
        expect(read).toMatchObject({ output: { found: true, value: Number(text.split("/")[1]) } });
      }
      await tx.abort();
      expect((await reader.unresolved()).length).toBe(0);
      for (const client of clients) await client.close();
      server.child.kill("SIGTERM");
      expect((await server.ended).code).toBe(0);
    },
    60_000 + CYCLES * 15_000,
  );
});
