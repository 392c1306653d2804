// Goal: what a hostile service answers with reaches nobody as it is (H3, C9): no agent is told its
// words, and its secrets and control characters stand in no answer, record, log, audit entry or line
// of the command. Method: each payload is thrown at every place where a tool can throw, in a server
// process; then everything that came out of it is searched, the bytes of its files included.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@agenttx/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { CANARY, PAYLOADS, WORD } from "./fixtures/payloads.mjs";
import { RawClient } from "./raw-calls.js";
import { ServerPlace } from "./server-process.js";

const TOOLS = fileURLToPath(new URL("./fixtures/hostile.mjs", import.meta.url));
const COUNT = (PAYLOADS as readonly unknown[]).length;
/** One transaction takes so many, so that none of them freezes or ends too early. */
const PER_TRANSACTION = 12;
/** Places that wait or retry are tried with one payload of so many. */
const EVERY = 19;

/** What a terminal obeys or nobody sees, as raw characters. */
const UNPRINTABLE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

let place: ServerPlace;
/** Everything that an agent's prompt is made of. */
const told: string[] = [];
/** Every answer, as JSON. */
const answers: string[] = [];
let log = "";
const printed: { readonly command: string; readonly text: string }[] = [];

async function run(raw: RawClient, name: Parameters<RawClient["call"]>[0], request: object) {
  const { code, message, answer } = await raw.call(name, request);
  answers.push(JSON.stringify({ code, message, answer }, plainOf));
  return answer;
}

const plainOf = (_key: string, value: unknown) =>
  typeof value === "bigint" ? value.toString() : value;

beforeAll(async () => {
  place = await ServerPlace.make();
  const server = await place.start(["--log-level", "trace"], TOOLS);
  const client = createClient({ address: place.address });
  const raw = new RawClient(place.address);
  const ids: string[] = [];
  const step = async (
    tx: Awaited<ReturnType<typeof client.begin>>,
    tool: string,
    number: number,
  ) => {
    const outcome = await tx.step(tool, { number });
    answers.push(JSON.stringify(outcome));
    if (outcome.status === "SUCCESS") return;
    told.push(outcome.hint?.text ?? "", outcome.hint?.key ?? "");
  };
  for (let first = 0; first < COUNT; first += PER_TRANSACTION) {
    const tx = await client.begin({ policy: { maxLocalDepth: 16, maxGlobalResets: 16 } });
    ids.push(tx.id);
    for (let number = first; number < Math.min(first + PER_TRANSACTION, COUNT); number += 1) {
      await step(tx, "hostile.read", number);
    }
    const { constraints } = await tx.view();
    told.push(...constraints.map(({ text }) => text));
  }
  for (let number = 0; number < COUNT; number += EVERY) {
    for (const tool of ["hostile.undo", "hostile.dirty", "hostile.lookup"]) {
      const tx = await client.begin();
      ids.push(tx.id);
      await step(tx, tool, number);
      answers.push(JSON.stringify(await tx.abort()));
    }
    const tx = await client.begin();
    ids.push(tx.id);
    await step(tx, "hostile.send", number);
    answers.push(JSON.stringify(await tx.commit(), plainOf));
  }
  for (const transactionId of ids) {
    await run(raw, "listEffects", { transactionId, pageSize: 0, pageToken: "" });
    await run(raw, "getTransaction", { transactionId, contextPageToken: "" });
  }
  await run(raw, "listReconciliation", { pageSize: 0, pageToken: "" });
  raw.close();
  await client.close();
  server.child.kill("SIGTERM");
  await server.ended;
  log = server.output().stderr;
  const some = [ids[0] ?? "", ids.at(-1) ?? "", ids.at(-2) ?? "", ids.at(-3) ?? ""];
  const commands = [["list"], ["unresolved"], ["audit", "verify"], ["doctor"]];
  for (const id of some) commands.push(["show", id], ["explain", id]);
  for (const command of commands.flatMap((one) => [one, [...one, "--json"]])) {
    const done = place.spawn([...command, "--verbose"], { FORCE_COLOR: "0" });
    await done.ended;
    const { stdout, stderr } = done.output();
    printed.push({ command: command.join(" "), text: stdout + stderr });
  }
}, 300_000);
afterAll(() => place.remove());

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

describe(`${COUNT} hostile error texts`, () => {
  it("were thrown, and every place that can throw has done so", () => {
    expect(COUNT).toBeGreaterThan(250);
    expect(told.filter((text) => text.startsWith("Hint: ")).length).toBeGreaterThan(COUNT);
    const all = answers.join("\n");
    for (const words of ["Someone else changed it", "The lookup failed", "hostile.send: "]) {
      expect(all).toContain(words);
    }
    expect(printed.every(({ text }) => text !== "")).toBe(true);
  });

  it("tell an agent nothing: not one of their words is in a hint, a key or a constraint", () => {
    for (const text of told) {
      expect(text.length).toBeLessThanOrEqual(240);
      expect(text).not.toMatch(
        new RegExp(`${WORD}|${CANARY}|evil|javascript|script>|im_start`, "i"),
      );
      expect(text).not.toMatch(/(?!\x20)[\p{C}\p{Zl}\p{Zp}]/u);
    }
  });

  it("leave no secret in any answer", () => {
    for (const answer of answers) expect(answer).not.toContain(CANARY);
  });

  it("leave no raw control character in any answer", () => {
    for (const answer of answers) {
      // JSON escapes what is below U+0020: so are the ones that were kept.
      expect(answer).not.toMatch(UNPRINTABLE);
      expect(answer).not.toMatch(/\\u00[019]|\\ud[89a-f]/i);
    }
  });

  it("leave no secret in the log, and no line of their own", () => {
    expect(log).not.toContain(CANARY);
    for (const line of log.trim().split("\n")) {
      expect(line).not.toMatch(UNPRINTABLE);
      if (line.startsWith("{")) expect(JSON.parse(line).msg).not.toBe(WORD);
    }
  });

  it("leave no secret in the files of the store", () => {
    const files = filesOf(join(place.root, "data"));
    expect(files.length).toBeGreaterThan(3);
    for (const file of files)
      expect([file, readFileSync(file).includes(CANARY)]).toEqual([file, false]);
  });

  it("leave no secret and no raw control character in what the command prints", () => {
    for (const { command, text } of printed) {
      expect([command, text.includes(CANARY)]).toEqual([command, false]);
      const found = UNPRINTABLE.exec(text);
      expect([command, found && text.slice(found.index - 60, found.index + 20)]).toEqual([
        command,
        null,
      ]);
    }
  });
});
