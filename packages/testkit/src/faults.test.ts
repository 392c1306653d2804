// Goal: a program fails exactly where and when a test wants it. Method: own registries; a child
// process for what kills.

import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { FaultRegistry, processFaults } from "./faults.js";

/** Runs a program on the built package; prints what it reached. */
function runChild(program: string, fault: string) {
  const entry = new URL("../dist/index.js", import.meta.url).href;
  const code = `const { faultPoint } = await import(${JSON.stringify(entry)}); ${program}`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    env: { ...process.env, AGENTTX_FAULT: fault },
    encoding: "utf8",
    timeout: 20_000,
  });
}
const PROGRAM = `for (const n of [1, 2, 3]) { await faultPoint("step"); console.log(n); }`;

describe("FaultRegistry", () => {
  it("lets everything through that is not armed, and counts", async () => {
    const faults = new FaultRegistry();
    await faults.point("a");
    await faults.point("a");
    expect([faults.passes("a"), faults.passes("b")]).toEqual([2, 0]);
  });

  it("throws at the pass it was armed for, once", async () => {
    const faults = new FaultRegistry();
    faults.arm("a", { kind: "throw", count: 2 });
    await faults.point("a");
    await expect(faults.point("a")).rejects.toThrow("fault injected at a");
    await faults.point("a");
    expect(faults.passes("a")).toBe(3);
  });

  it("throws the error it was given, at its own point only", async () => {
    const faults = new FaultRegistry();
    faults.arm("a", { kind: "throw", error: new TypeError("mine") });
    await faults.point("b");
    await expect(faults.point("a")).rejects.toThrow(TypeError);
  });

  it("forgets a point that was disarmed, and all of them", async () => {
    const faults = new FaultRegistry();
    for (const name of ["a", "b"]) faults.arm(name, { kind: "throw" });
    faults.disarm("a");
    await faults.point("a");
    faults.reset();
    await faults.point("b");
    expect(faults.passes("b")).toBe(1);
  });

  it("never comes back from a point that hangs", async () => {
    const faults = new FaultRegistry();
    faults.arm("a", { kind: "hang" });
    let passed = false;
    void faults.point("a").then(() => {
      passed = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(passed).toBe(false);
  });

  it("reads name, count and kind from the environment", async () => {
    const faults = new FaultRegistry("a:2:throw, b:1:throw");
    await faults.point("a");
    await expect(faults.point("a")).rejects.toThrow("at a");
    await expect(faults.point("b")).rejects.toThrow("at b");
  });

  it("refuses an environment that it does not understand", () => {
    for (const text of ["a", "a:0", "a:x", "a:1:explode", ":1"]) {
      expect(() => new FaultRegistry(text)).toThrow("AGENTTX_FAULT is");
    }
  });

  it("is one for the whole process", () => {
    expect(processFaults()).toBe(processFaults());
  });
});

describe("a program with AGENTTX_FAULT", () => {
  it("is killed at the pass named, without a word", () => {
    const { signal, stdout } = runChild(PROGRAM, "step:3");
    expect([signal, stdout]).toEqual(["SIGKILL", "1\n2\n"]);
  });

  it("ends by an error at the pass named", () => {
    const { status, stdout, stderr } = runChild(PROGRAM, "step:2:throw");
    expect([status, stdout]).toEqual([1, "1\n"]);
    expect(stderr).toContain("fault injected at step");
  });

  it("runs through when another point is armed", () => {
    const { status, stdout } = runChild(PROGRAM, "other:1");
    expect([status, stdout]).toEqual([0, "1\n2\n3\n"]);
  });
});
