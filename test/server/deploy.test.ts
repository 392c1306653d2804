// Goal: what is shipped for deployment fits the server that is shipped. Method: every name in it
// (settings, ports, metrics, commands) is looked up in the code; systemd checks its unit where it is
// installed.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadConfig, settingFacts } from "@agenttx/server";
import { describe, expect, it } from "vitest";
import { startTestServer } from "./test-server.js";

const folder = fileURLToPath(new URL("../../packages/server/deploy/", import.meta.url));
const read = (name: string) => readFileSync(folder + name, "utf8");
const facts = settingFacts();
const environments = new Set([...facts.map(({ environment }) => environment), "AGENTTX_CONFIG"]);
const named = (text: string) => [...text.matchAll(/\bAGENTTX_[A-Z_]+\b/g)].map(([name]) => name);

describe("deploy/", () => {
  it("names settings that exist, and no others", () => {
    for (const name of readdirSync(folder)) {
      for (const variable of named(read(name))) expect(environments, name).toContain(variable);
      for (const [flag] of read(name).matchAll(/(?<= serve .*)--[a-z-]+/g)) {
        expect(["--config", ...facts.map((fact) => fact.flag)], name).toContain(flag);
      }
    }
  });

  it("has a config file that loads, and a container that it fits", () => {
    const environment = Object.fromEntries(
      [
        ...read("Dockerfile")
          .replace(/^#.*$/gm, "")
          .matchAll(/\b(AGENTTX_[A-Z_]+)=(\S+)/g),
      ].map(([, key, value]) => [key, value]),
    );
    const { settings } = loadConfig({ file: `${folder}agenttx.toml`, environment });
    expect(settings).toMatchObject({ syncWrites: true, listen: "0.0.0.0:7878" });
    const open = { ...environment, AGENTTX_CONFIG: undefined };
    expect(() => loadConfig({ environment: open })).toThrow(/is not loopback/);
  });

  it("exposes the ports that are the default, and runs as nobody special", () => {
    const text = read("Dockerfile");
    const port = (name: string) =>
      String(facts.find((fact) => fact.name === name)?.fallback)
        .split(":")
        .at(-1);
    expect(text).toContain(`EXPOSE ${port("listen")} ${port("httpListen")}\n`);
    expect(text.indexOf("USER node")).toBeGreaterThan(text.indexOf("RUN "));
    for (const [, source = ""] of text.matchAll(/^COPY (?:--\S+ )?(\S+) /gm)) {
      expect(readdirSync(folder)).toContain(source);
    }
  });

  it("alerts on metrics that the server has, with labels that they have", async () => {
    const at = await startTestServer();
    try {
      const text = await (await fetch(`${at.httpUrl}/metrics`)).text();
      const served = new Set(
        [...text.matchAll(/^# TYPE (agenttx_\w+) /gm)].map(([, name]) => name),
      );
      const asked = [...read("alerts.yml").matchAll(/agenttx_\w+/g)].map(([name]) =>
        name.replace(/_bucket$/, ""),
      );
      expect(asked.length).toBeGreaterThan(5);
      for (const name of asked) expect(served).toContain(name);
      for (const expr of read("alerts.yml").matchAll(/^ +expr: (.*)$/gm)) {
        const open = [...(expr[1] ?? "")].filter((letter) => "({[".includes(letter)).length;
        const close = [...(expr[1] ?? "")].filter((letter) => ")}]".includes(letter)).length;
        expect(close, expr[1]).toBe(open);
      }
    } finally {
      await at.remove();
    }
  });

  it("has a runbook for each alert, and no other", () => {
    const rules = read("alerts.yml");
    const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    const runbook = readFileSync(new URL("../../docs/alerts.md", import.meta.url), "utf8");
    expect([...runbook.matchAll(/^## (\w+)$/gm)].map(([, name]) => name)).toEqual(alerts);
    const links = [...rules.matchAll(/runbook: "docs\/alerts\.md#(\w+)"/g)].map(([, link]) => link);
    expect(links).toEqual(alerts.map((name) => name?.toLowerCase()));
  });

  it.runIf(isInstalled("promtool"))("has rules that Prometheus accepts", () => {
    execFileSync("promtool", ["check", "rules", `${folder}alerts.yml`], { stdio: "pipe" });
  });

  it("has a unit that starts the command and gives it time to drain", () => {
    const unit = read("agenttx.service");
    const { bin } = JSON.parse(
      readFileSync(new URL("../../packages/cli/package.json", import.meta.url), "utf8"),
    );
    const [, command = ""] = /^ExecStart=\/usr\/bin\/env (\w+) serve /m.exec(unit) ?? [];
    expect(Object.keys(bin)).toContain(command);
    const drainMs = Number(facts.find(({ name }) => name === "drainTimeoutMs")?.fallback);
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
    expect(Number(seconds) * 1_000).toBeGreaterThan(drainMs + 10_000);
    expect(unit).toMatch(/^UMask=0077$/m);
    expect(complaints(`${folder}agenttx.service`)).toBe("");
  });
});

/** What systemd says about a unit; "" when it is content or not installed. */
function complaints(path: string): string {
  try {
    execFileSync("systemd-analyze", ["verify", path], { stdio: ["ignore", "ignore", "pipe"] });
    return "";
  } catch (error) {
    const { code, stderr } = error as { code?: string; stderr?: Buffer };
    return code === "ENOENT" ? "" : String(stderr);
  }
}

function isInstalled(command: string): boolean {
  try {
    execFileSync(command, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
