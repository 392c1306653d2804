// Owns the world of the adapter tests: files, a database and a booking service in its own process,
// and everything that can be seen of them.

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

interface Rows {
  exec(sql: string): unknown;
  prepare(sql: string): { all(): unknown[] };
  close(): unknown;
}

// better-sqlite3 has no types of its own; this is the part that is used.
const Database = createRequire(import.meta.url)("better-sqlite3") as new (path: string) => Rows;

export interface Child {
  readonly process: ChildProcess;
  readonly ended: Promise<void>;
  /** Resolves with the rest of the first line that begins so. */
  line(start: string): Promise<string>;
}

/** Runs a script of children/; it is killed when the test has finished. */
export function startChild(script: string, args: readonly string[]): Child {
  const path = fileURLToPath(new URL(`./children/${script}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let errors = "";
  let alive = true;
  const watchers = new Set<() => void>();
  const wake = (): void => {
    for (const watch of watchers) watch();
  };
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    wake();
  });
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => {
      alive = false;
      wake();
      resolve();
    });
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const line = (start: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const watch = (): void => {
        const found = output.split("\n").find((each) => each.startsWith(start));
        if (found === undefined && alive) return;
        watchers.delete(watch);
        if (found === undefined) reject(new Error(`${script} ended: ${output}${errors}`));
        else resolve(found.slice(start.length).trim());
      };
      watchers.add(watch);
      watch();
    });
  return { process: child, ended, line };
}

export interface World {
  readonly directory: string;
  readonly origin: string;
  readonly service: Child;
  /** Everything that a call may change, to be compared. */
  snapshot(): Promise<unknown>;
  /** Names below `.agenttx-undo/`. */
  copies(): Promise<string[]>;
  rows(sql: string): unknown[];
}

export async function makeWorld(): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "agenttx-adapters-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const files = join(directory, "files");
  await mkdir(files);
  await writeFile(join(files, "draft.txt"), "a draft");
  await chmod(join(files, "draft.txt"), 0o600);
  await writeFile(join(files, "large.bin"), randomBytes(1_200_000));
  const database = new Database(join(directory, "shop.db"));
  database.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE stock (sku TEXT PRIMARY KEY, count INTEGER, photo BLOB);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, sku TEXT NOT NULL REFERENCES stock (sku)
      ON DELETE CASCADE, note REAL);
    INSERT INTO stock VALUES ('cup', 10, x'00ff'), ('pot', 3, NULL);
    INSERT INTO orders VALUES (1, 'pot', 0.1)`);
  const service = startChild("booking-service.mjs", [join(directory, "bookings.db")]);
  const origin = `http://127.0.0.1:${await service.line("port ")}`;
  const bookings = new Database(join(directory, "bookings.db"));
  onTestFinished(() => {
    database.close();
    bookings.close();
  });
  const all = (of: Rows, sql: string): unknown[] => of.prepare(sql).all();
  return {
    directory,
    origin,
    service,
    snapshot: async () => ({
      files: await treeOf(files),
      stock: all(database, "SELECT sku, count, hex(photo) AS photo FROM stock ORDER BY sku"),
      orders: all(database, "SELECT *, typeof(note) AS type FROM orders ORDER BY id"),
      bookings: all(bookings, "SELECT item, status FROM bookings WHERE status <> 'cancelled'"),
    }),
    copies: async () => {
      const copies = join(files, ".agenttx-undo");
      return existsSync(copies) ? readdir(copies) : [];
    },
    rows: (sql) => all(database, sql),
  };
}

/** Path, mode, time and content of everything below; the tools' own directory left out. */
async function treeOf(root: string): Promise<unknown> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => join(entry.parentPath, entry.name)).sort();
  const shown = paths.filter((path) => !path.includes(".agenttx-undo"));
  return Promise.all(
    shown.map(async (path) => {
      const { mode, mtimeNs } = await stat(path, { bigint: true });
      const content = await readFile(path).catch(() => null);
      // To the microsecond, which is what the tools promise.
      const time = content === null ? null : (mtimeNs + 500n) / 1_000n;
      return {
        path: relative(root, path),
        mode: Number(mode),
        time,
        content: content?.toString("base64"),
      };
    }),
  );
}
