// Starts the three services as processes of their own and stops them again.
// Run by hand (`node examples/fulfillment/services/launch.mjs [dir]`) it prints the settings that
// tools.mjs needs and goes on until Ctrl-C.
import { spawn } from "node:child_process";
import { mkdirSync, realpathSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const SERVICES = ["inventory", "carrier", "payments"];
const START_MS_MAX = 15_000;

/**
 * Resolves when all three answer: `{ env, urls, stop }`. `env` is what tools.mjs reads. They also
 * stop by themselves when this process ends, however it ends: their standard input closes.
 */
export async function launchServices(directory) {
  mkdirSync(directory, { recursive: true });
  const children = SERVICES.map((name) => start(name, directory));
  const stop = async () => {
    for (const { child } of children) child.stdin.end();
    await Promise.all(children.map(({ exited }) => exited));
  };
  try {
    const urls = Object.fromEntries(await Promise.all(children.map(({ announced }) => announced)));
    const env = Object.fromEntries(
      Object.entries(urls).map(([name, url]) => [`${name.toUpperCase()}_URL`, url]),
    );
    return { urls, env, pids: children.map(({ child }) => child.pid), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function start(name, directory) {
  const file = fileURLToPath(new URL(`./${name}.mjs`, import.meta.url));
  const child = spawn(process.execPath, [file, directory], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.on("error", () => {});
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const announced = new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`${name} did not start within ${START_MS_MAX} ms`)),
      START_MS_MAX,
    );
    createInterface({ input: child.stdout }).once("line", (line) => {
      clearTimeout(timer);
      resolve([name, JSON.parse(line).url]);
    });
    void exited.then((code) => {
      clearTimeout(timer);
      reject(new Error(`${name} ended with code ${code} before it answered`));
    });
  });
  announced.catch(() => {});
  return { child, announced, exited };
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { env, stop } = await launchServices(process.argv[2] ?? "fulfillment-services");
  for (const [name, value] of Object.entries(env)) console.log(`export ${name}=${value}`);
  process.once("SIGINT", stop);
}
