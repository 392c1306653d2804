// Owns the world outside of the victims: it lives in the driver's process and never dies. Victims
// reach it over a socket; what it did is in an append-only file, fsynced before it answers.
//
//   W1 A key lands at most once, and is taken back at most once.
//   W2 A key that was asked for or taken back before it landed is sealed: it never lands later.
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

interface Request {
  readonly id: number;
  readonly op: "do" | "undo" | "ask";
  readonly key: string;
  readonly item?: string;
  readonly delayMs?: number;
}

export interface Deed {
  readonly key: string;
  readonly item: string;
  undone: number;
  /** Doings and undoings that found the work done. */
  repeats: number;
}

export class World {
  readonly deeds = new Map<string, Deed>();
  readonly sealed = new Set<string>();
  readonly socketPath: string;
  readonly #server: Server;
  readonly #log: number;
  readonly #sockets = new Set<Socket>();
  #pending = 0;

  private constructor(socketPath: string, logPath: string) {
    this.socketPath = socketPath;
    this.#log = openSync(logPath, "a", 0o600);
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async open(socketPath: string, logPath: string): Promise<World> {
    const world = new World(socketPath, logPath);
    await new Promise<void>((resolve) => world.#server.listen(socketPath, resolve));
    return world;
  }

  /** Resolves when every request that arrived is answered and every victim has hung up. */
  async quiet(): Promise<void> {
    while (this.#pending > 0 || this.#sockets.size > 0) await sleep(1);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    closeSync(this.#log);
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => this.#sockets.delete(socket));
    const lines = createInterface({ input: socket });
    // A killed victim resets the connection; readline passes the socket's error on.
    lines.on("error", () => undefined);
    lines.on("line", (line) => void this.#answer(socket, line));
  }

  async #answer(socket: Socket, line: string): Promise<void> {
    this.#pending += 1;
    try {
      const request = requestOf(line);
      // A line that the kill cut in two was never asked.
      if (request === null) return;
      if (request.delayMs !== undefined) await sleep(request.delayMs);
      const answer = this.#happen(request);
      if (!socket.destroyed) socket.write(`${JSON.stringify({ id: request.id, answer })}\n`);
    } finally {
      this.#pending -= 1;
    }
  }

  #happen({ op, key, item = "" }: Request): unknown {
    const deed = this.deeds.get(key);
    if (op === "do") {
      if (deed === undefined && this.sealed.has(key)) return "sealed";
      if (deed === undefined) {
        this.#append(op, key, item);
        this.deeds.set(key, { key, item, undone: 0, repeats: 0 });
      } else deed.repeats += 1;
      return "done";
    }
    if (deed === undefined) this.sealed.add(key);
    if (op === "ask") return deed !== undefined;
    if (deed === undefined) return "already-undone";
    if (deed.undone > 0) {
      deed.repeats += 1;
      return "already-undone";
    }
    this.#append(op, key, deed.item);
    deed.undone += 1;
    return "undone";
  }

  #append(op: string, key: string, item: string): void {
    writeSync(this.#log, `${JSON.stringify({ op, key, item })}\n`);
    fsyncSync(this.#log);
  }
}

function requestOf(line: string): Request | null {
  try {
    return JSON.parse(line) as Request;
  } catch {
    return null;
  }
}
