// Goal: two builds never write to one folder. Method: real processes hold the lock and are killed.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

interface Lock {
  readonly release: () => void;
  readonly covers: (pid: number) => void;
}

const script = new URL("../../native/scripts/build-lock.mjs", import.meta.url).href;
const { acquireLock }: { acquireLock(path: string, onWait: (pid: number) => void): Promise<Lock> } =
  await import(script);

let folder = "";
let path = "";
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agenttx-lock-"));
  path = join(folder, "lock");
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** A process that lives until it is killed. */
function startProcess(): { readonly pid: number; readonly end: () => Promise<void> } {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"]);
  children.push(child);
  const end = async () => {
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  };
  return { pid: child.pid ?? 0, end };
}

it("is free after its release, and leaves no file", async () => {
  const first = await acquireLock(path, () => {});
  first.release();
  const second = await acquireLock(path, () => {});
  second.release();
  expect(readdirSync(folder)).toEqual([]);
});

it("is taken over when its builder is dead", async () => {
  const builder = startProcess();
  writeFileSync(path, `${builder.pid}\n`);
  await builder.end();
  const waited: number[] = [];
  const lock = await acquireLock(path, (pid) => waited.push(pid));
  lock.release();
  expect(waited).toEqual([]);
});

it("waits for the compiler of a builder that was killed", async () => {
  const builder = startProcess();
  const compiler = startProcess();
  writeFileSync(path, `${builder.pid} ${compiler.pid}\n`);
  await builder.end();
  const waited: number[] = [];
  const lock = await acquireLock(path, (pid) => {
    waited.push(pid);
    void compiler.end();
  });
  lock.release();
  expect(waited).toEqual([compiler.pid]);
});

it("lasts as long as the process that it covers", async () => {
  const compiler = startProcess();
  const lock = await acquireLock(path, () => {});
  lock.covers(compiler.pid);
  const waited: number[] = [];
  const next = acquireLock(path, (pid) => {
    waited.push(pid);
    lock.release();
  });
  (await next).release();
  expect(waited).toEqual([process.pid]);
  expect(existsSync(path)).toBe(false);
});
