// Goal: a newcomer who follows docs/quickstart.md word for word gets what it shows. Method: files are
// saved, commands run in one shell and outputs compared, in the order of the page. Only two things
// differ: packages are linked instead of installed, and ports are free ones.

import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "agenttx-quickstart-"));
let ports: { readonly grpc: number; readonly http: number };
let server: ChildProcess | null = null;
let shell: Shell;

interface Block {
  readonly language: string;
  /** The rest of the line that opens the block. */
  readonly title: string;
  readonly text: string;
}

function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w+) ?([\w.]*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", title = "", text = ""]) => ({ language, title, text }),
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

function environment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    AGENTTX_LISTEN: `127.0.0.1:${ports.grpc}`,
    AGENTTX_HTTP_LISTEN: `127.0.0.1:${ports.http}`,
  };
}

/** One shell for the whole page: variables and functions stay. */
class Shell {
  readonly #child: ChildProcess;
  #output = "";
  #wake = () => {};

  constructor() {
    this.#child = spawn("bash", [], {
      cwd: folder,
      env: environment(),
      stdio: ["pipe", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
        this.#wake();
      });
    }
  }

  /** What the commands print, on both streams. */
  async run(commands: string): Promise<string> {
    this.#output = "";
    this.#child.stdin?.write(`${commands}\necho "<<end>>"\n`);
    while (!this.#output.endsWith("<<end>>\n")) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#output.slice(0, -"<<end>>\n".length);
  }

  close(): void {
    this.#child.stdin?.end();
  }
}

/** Starts the server in the background, like the terminal of its own; resolves with its first line. */
function startServer(command: string): Promise<string> {
  const child = spawn("bash", ["-c", `exec ${command.trim()}`], {
    cwd: folder,
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  server = child;
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (more: string) => {
      text += more;
      if (text.endsWith("\n")) resolve(text);
    });
    child.once("close", () => reject(new Error(`the server ended: ${text}`)));
  });
}

beforeAll(async () => {
  ports = { grpc: await freePort(), http: await freePort() };
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  for (const name of ["@agenttx", "zod"]) {
    symlinkSync(here(`../node_modules/${name}`), join(modules, name));
  }
  symlinkSync(here("../../packages/cli/bin/agenttx.js"), join(modules, ".bin", "agenttx"));
  shell = new Shell();
});
afterAll(async () => {
  shell.close();
  if (server?.pid !== undefined) {
    const ended = new Promise((resolve) => server?.once("close", resolve));
    // npx is the parent of the server: the group gets the signal, as from a terminal.
    process.kill(-server.pid, "SIGINT");
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

describe("docs/quickstart.md", () => {
  it("shows what a newcomer gets, from the first line to the last", async () => {
    const page = readFileSync(here("../../docs/quickstart.md"), "utf8")
      .replaceAll("7878", String(ports.grpc))
      .replaceAll("7879", String(ports.http));
    let shown: string | null = null;
    let compared = 0;
    for (const { language, title, text } of blocksOf(page)) {
      if (language === "js") writeFileSync(join(folder, title), text);
      else if (title === "install") expect(text).toMatch(/^npm install /);
      else if (title === "server") shown = await startServer(text);
      else if (language === "sh") shown = await shell.run(text);
      else {
        expect(shown).toBe(text);
        compared += 1;
      }
    }
    expect(compared).toBe(6);
  }, 60_000);

  it("installs packages that exist", () => {
    const page = readFileSync(here("../../docs/quickstart.md"), "utf8");
    const [, names = ""] = /^npm install (.+)$/m.exec(page) ?? [];
    const own = names.split(" ").filter((name) => name.includes("agenttx"));
    for (const name of own) {
      const short = name === "agenttx" ? "cli" : name.replace("@agenttx/", "");
      const manifest = here(`../../packages/${short}/package.json`);
      expect(existsSync(manifest)).toBe(true);
      expect(JSON.parse(readFileSync(manifest, "utf8")).name).toBe(name);
    }
  });
});
