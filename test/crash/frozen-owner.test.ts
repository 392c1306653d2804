// Goal: an owner that was frozen while another took over changes nothing when it wakes up, in the
// middle of whatever it was doing (C6). Method: the owner is a process of its own, a client that steps
// without end; it is stopped at a random moment, another owner acquires the workflow, and it is let
// go on. AGENTTX_LONG=1 runs 300 rounds.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type AgentTxClient, createClient } from "@agenttx/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../server/test-server.js";

const SCRIPT = fileURLToPath(new URL("./children/owner.mjs", import.meta.url));
const ROUNDS = process.env.AGENTTX_LONG === "1" ? 300 : 6;

let at: TestServer;
let client: AgentTxClient;
beforeAll(async () => {
  at = await startTestServer();
  client = createClient({ address: at.address });
});
afterAll(async () => {
  await client.close();
  await at.remove();
});

/** A process that owns a workflow; `answers` are what its calls were told, one word each. */
async function owner(workflow: string) {
  const child = spawn(process.execPath, [SCRIPT, at.address, workflow], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const answers: string[] = [];
  const started = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      answers.push(line);
      if (answers.length === 3) resolve();
    });
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  await started;
  return { child, answers, ended };
}

it(
  `refuses all of a frozen owner that wakes up after a take-over, ${ROUNDS} times`,
  async () => {
    const { workflows } = client.recovery;
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = `w${round}`;
      await workflows.start({ id, owner: "first" });
      const old = await owner(id);
      await sleep(Math.random() * 30);
      old.child.kill("SIGSTOP");
      const taken = await workflows.acquireOwnership(id, "second");
      // What was on its way when it was stopped may have arrived just before the fence, or not.
      const { nextStep } = taken.transaction;
      await taken.step("kv.put", { key: `${id}/second`, value: 1 });
      old.child.kill("SIGCONT");
      await old.ended;
      expect(old.answers.at(-1)).toBe("STALE_OWNER");
      expect(taken.transaction.nextStep).toBe(nextStep + 1);
      await taken.step("kv.put", { key: `${id}/second`, value: 2 });
      expect(await taken.commit()).toMatchObject({ stepsCommitted: nextStep + 1 });
      // Every step that it was told of is there, and at most the one that it was not told of.
      const told = old.answers.filter((answer) => answer === "SUCCESS").length;
      expect([told, told + 1]).toContain(nextStep - 1);
    }
  },
  30_000 + ROUNDS * 5_000,
);
