// Goal: `agenttx serve` starts, says so, stops and refuses as documented, and operators reach a running
// server. Method: the built command, as processes.

import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@agenttx/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ServerPlace, type ServerProcess } from "./server-process.js";

let place: ServerPlace;
beforeEach(async () => {
  place = await ServerPlace.make();
});
afterEach(() => place.remove());

async function finished(one: ServerProcess) {
  const { code } = await one.ended;
  return { code, ...one.output() };
}

describe("stopping", () => {
  it("drains on SIGTERM, ends with 0, and what is open goes on at the next start", async () => {
    const server = await place.start();
    const client = createClient({ address: place.address, deadlineMs: 60_000 });
    const tx = await client.begin({ agentId: "a" });
    await tx.step("effect.do", { text: "one" });
    server.child.kill("SIGTERM");
    // Sent while the server is away: it waits for the next one.
    const second = tx.step("effect.do", { text: "two" });
    expect((await finished(server)).code).toBe(0);
    expect(server.output().stderr).toContain("SIGTERM: stopping");
    const next = await place.start();
    expect(await second).toMatchObject({ status: "SUCCESS", step: 2 });
    expect((await tx.commit()).stepsCommitted).toBe(2);
    expect(place.effects().filter((line) => line.startsWith("do "))).toHaveLength(2);
    await client.close();
    next.child.kill("SIGINT");
    expect((await finished(next)).code).toBe(0);
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("ends at once on a second %s, although a step hangs", async (signal, code) => {
    const server = await place.start();
    const client = createClient({ address: place.address, deadlineMs: 30_000 });
    const tx = await client.begin();
    const hanging = tx.step("effect.hang", {});
    hanging.catch(() => {});
    await expect.poll(() => place.effects()).toContain("hanging");
    server.child.kill(signal);
    await expect.poll(() => server.output().stderr).toContain("stopping");
    server.child.kill(signal);
    expect((await finished(server)).code).toBe(code);
    await client.close();
  });
});

describe("starting", () => {
  it("says where it serves: a line for people, a document with --json; the log is on stderr", async () => {
    const server = await place.start();
    expect(server.output().stdout.trim()).toBe(
      `agenttx serves gRPC ${place.address}, data in ${join(place.root, "data")}; Ctrl-C stops it`,
    );
    server.child.kill("SIGTERM");
    for (const line of (await finished(server)).stderr.trim().split("\n")) {
      expect(line.startsWith("{") || line.startsWith("SIGTERM")).toBe(true);
    }
    const listen = ["--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0"];
    const other = place.spawn(["serve", ...listen, "--json"]);
    await expect.poll(() => other.output().stdout, { timeout: 10_000 }).toContain("\n");
    const said = JSON.parse(other.output().stdout);
    expect(said).toMatchObject({ type: "serving", pid: other.child.pid });
    expect((await fetch(`http://${said.http}/healthz`)).status).toBe(200);
    other.child.kill("SIGTERM");
    await other.ended;
  });

  it("keeps its files from other users", async () => {
    const server = await place.start();
    const data = join(place.root, "data");
    expect(statSync(data).mode & 0o777).toBe(0o700);
    for (const name of ["ANCHOR", "FORMAT"]) {
      expect(statSync(join(data, name)).mode & 0o077).toBe(0);
    }
    server.child.kill("SIGTERM");
    await server.ended;
  });

  it("refuses settings that cannot be, one line each, and changes nothing", async () => {
    const bad = ["--listen", "nowhere", "--in-flight-max=0", "--log-level", "loud"];
    const { code, stderr, stdout } = await finished(place.spawn(["serve", ...bad]));
    expect(code).toBe(2);
    expect(stdout).toBe("");
    const lines = stderr.trim().split("\n");
    expect(lines).toHaveLength(3);
    for (const [index, flag] of ["--listen", "--in-flight-max", "--log-level"].entries()) {
      expect(lines[index]).toMatch(
        new RegExp(`^agenttx: INVALID_ARGUMENT: ${flag} \\(from flag\\): `),
      );
    }
    const unknown = await finished(place.spawn(["serve", "--no-such-setting"]));
    expect([unknown.code, unknown.stderr.includes("unknown option")]).toEqual([2, true]);
  });

  it("says which address is taken, and which store is locked", async () => {
    const server = await place.start();
    const elsewhere = { AGENTTX_DATA_DIR: join(place.root, "other") };
    const args = ["serve", "--listen", place.address, "--http-listen", "off"];
    const taken = await finished(place.spawn(args, elsewhere));
    expect(taken.code).toBe(2);
    expect(taken.stderr).toContain(`--listen ${place.address} cannot be used`);
    const locked = await finished(
      place.spawn(["serve", "--listen", "127.0.0.1:0", "--http-listen", "off"]),
    );
    expect([locked.code, locked.stderr.includes("STORE_LOCKED")]).toEqual([5, true]);
    server.child.kill("SIGTERM");
    await server.ended;
  });
});

describe("settings", () => {
  it("come from flag, environment and file, in that order of strength", async () => {
    const file = join(place.root, "agenttx.toml");
    writeFileSync(file, 'max_local_depth = 1\nmax_global_resets = 3\nlog_level = "warn"\n');
    const env = { AGENTTX_MAX_LOCAL_DEPTH: "4", AGENTTX_LOG_LEVEL: "error", AGENTTX_FS_ROOT: "" };
    const args = ["config", "--config", file, "--log-level", "debug", "--json"];
    const { code, stdout } = await finished(place.spawn(args, env));
    expect(code).toBe(0);
    const rows: { name: string; value: unknown; origin: string }[] = JSON.parse(stdout).settings;
    const found = (name: string) => {
      const row = rows.find((one) => one.name === name);
      return [row?.value, row?.origin];
    };
    expect(found("logLevel")).toEqual(["debug", "flag"]);
    expect(found("maxLocalDepth")).toEqual([4, "environment"]);
    expect(found("maxGlobalResets")).toEqual([3, "file"]);
    expect(found("syncWrites")).toEqual([false, "default"]);
    expect(found("fsRoot"), "set and empty is not set").toEqual([null, "default"]);
  });

  it("of the file must be known", async () => {
    const file = join(place.root, "agenttx.toml");
    writeFileSync(file, "max_local_dept = 1\n");
    const { code, stderr } = await finished(place.spawn(["config", "--config", file]));
    expect([code, stderr.includes("unknown max_local_dept")]).toEqual([2, true]);
  });
});

describe("tokens and operators", () => {
  it("a token is shown once, kept as a hash in a file of 0600, and revoked by name", async () => {
    const file = join(place.root, "tokens.json");
    const token = (args: string[]) =>
      finished(place.spawn(["token", ...args, "--tokens-file", file]));
    const made = await token(["create", "--name", "ann", "--tenant", "acme", "--scope", "read"]);
    expect(made.stdout).toMatch(/^atx_[\w-]{43}\n$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).not.toContain(made.stdout.trim());
    expect((await token(["create", "--name", "ann"])).code).toBe(2);
    const listed = JSON.parse((await token(["list", "--json"])).stdout);
    expect(listed).toMatchObject([{ name: "ann", tenant: "acme", scopes: ["read"] }]);
    expect(JSON.stringify(listed)).not.toContain("sha256");
    expect((await token(["revoke", "--name", "ann"])).code).toBe(0);
    expect((await token(["revoke", "--name", "bob"])).code).toBe(3);
    expect((await token(["create", "--name", "x", "--scope", "all"])).code).toBe(2);
    expect((await token(["create", "--name", "x", "--expires", "soon"])).code).toBe(2);
  });

  it("ask and act on a running server, as tenant of their token", async () => {
    const file = join(place.root, "tokens.json");
    const make = async (name: string, tenant: string) => {
      const args = ["token", "create", "--name", name, "--tenant", tenant, "--tokens-file", file];
      const path = join(place.root, `${name}.token`);
      writeFileSync(path, (await finished(place.spawn(args))).stdout);
      chmodSync(path, 0o600);
      return path;
    };
    const [ann, bob] = [await make("ann", "acme"), await make("bob", "globex")];
    const server = await place.start(["--tokens-file", file]);
    const client = createClient({
      address: place.address,
      token: readFileSync(ann, "utf8").trim(),
    });
    const tx = await client.begin({ agentId: "shopper" });
    await tx.step("effect.do", { text: "one" });
    await tx.step("effect.do", { text: "two" });
    const remote = (tokenFile: string, ...args: string[]) =>
      finished(
        place.spawn([...args, "--server", place.address, "--token-file", tokenFile, "--json"]),
      );
    expect(JSON.parse((await remote(ann, "list")).stdout)).toMatchObject([
      { id: tx.id, agentId: "shopper", status: "ACTIVE", nextStep: 3 },
    ]);
    expect(JSON.parse((await remote(bob, "list")).stdout)).toEqual([]);
    expect((await remote(bob, "show", tx.id)).code).toBe(3);
    expect((await remote(bob, "abort", tx.id)).code).toBe(3);
    const rewound = await remote(ann, "rollback", tx.id, "--to-step", "2");
    expect([rewound.code, JSON.parse(rewound.stdout).nextStep]).toEqual([0, 2]);
    expect(place.effects().filter((line) => line.startsWith("undo "))).toHaveLength(1);
    const aborted = await remote(ann, "abort", tx.id, "--reason", "not wanted");
    expect([aborted.code, JSON.parse(aborted.stdout).status]).toEqual([0, "ROLLED_BACK"]);
    const shown = JSON.parse((await remote(ann, "show", tx.id)).stdout);
    expect(shown).toMatchObject({ status: "ROLLED_BACK", abortReason: "not wanted" });
    expect(JSON.parse((await remote(ann, "unresolved")).stdout)).toEqual([]);
    const both = ["show", tx.id, "--data", place.root, "--server", place.address];
    expect((await finished(place.spawn(both))).code).toBe(2);
    await client.close();
    server.child.kill("SIGTERM");
    await server.ended;
  }, 60_000);

  it("says that nobody is there with 5", async () => {
    const { code, stderr } = await finished(place.spawn(["list", "--server", "127.0.0.1:1"]));
    expect([code, stderr]).toEqual([5, expect.stringContaining("Nothing listens at 127.0.0.1:1;")]);
  }, 40_000);
});
