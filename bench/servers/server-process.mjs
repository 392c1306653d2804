// Owns servers in processes of their own: started, asked for their memory, stopped.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Starts `servers/<name>-server.mjs` and resolves with what it says: its ports. */
export async function startServerProcess(name, options) {
  const path = fileURLToPath(new URL(`${name}-server.mjs`, import.meta.url));
  const child = fork(path, [], {
    execArgv: ["--expose-gc", ...profileArguments()],
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  child.stdout.pipe(process.stderr);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const ask = (message) => {
    const answer = new Promise((resolve, reject) => {
      child.once("message", resolve);
      child.once("exit", (code) => reject(new Error(`The ${name} server ended with ${code}`)));
    });
    child.send(message);
    return answer;
  };
  const ports = await ask({ start: options });
  return {
    ...ports,
    /** Bytes in memory after garbage collection, and `processor` as below. */
    memory: () => ask({ memory: true }),
    /** Microseconds of processor time that the process has used. */
    processor: () => ask({ processor: true }),
    stop: async () => {
      child.send({ stop: true });
      await ended;
    },
  };
}

function profileArguments() {
  const folder = process.env.BENCH_CPU_PROFILE;
  return folder ? ["--cpu-prof", `--cpu-prof-dir=${folder}`] : [];
}

/** The other side: `start` makes the server and returns its ports and `close`. */
export function serveParent(start) {
  let close = null;
  process.on("message", async (message) => {
    if (message.start !== undefined) {
      const { close: closing, ...ports } = await start(message.start);
      close = closing;
      process.send(ports);
    } else if (message.memory) {
      for (let round = 0; round < 3; round += 1) {
        globalThis.gc();
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      process.send({ ...process.memoryUsage(), processor: processorMicros() });
    } else if (message.processor) {
      process.send(processorMicros());
    } else if (message.stop) {
      await close();
      process.disconnect();
    }
  });
}

function processorMicros() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
