// Owns a small real service for tests: bookings in SQLite behind HTTP, with idempotency keys,
// versions, cancellation, and a gate that holds a call before or after it takes effect.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { SqlConnection } from "../sql/driver.js";
import { openDatabase } from "./sqlite.js";

interface Booking {
  readonly id: number;
  readonly key: string;
  readonly item: string;
  readonly status: "booked" | "collected" | "cancelled" | "refused";
  readonly version: number;
}

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface Gate {
  readonly when: "before" | "after";
  arrive(): void;
  readonly opened: Promise<void>;
}

type Reply = [status: number, body: unknown, headers?: Record<string, string>];

export class BookingService {
  readonly database: SqlConnection;
  readonly seen: Seen[] = [];
  /** Answers a path of its own choice instead of the service; null: the service answers. */
  answer: (seen: Seen) => Reply | null = () => null;
  #gate: Gate | null = null;
  readonly #server: Server;

  private constructor(path: string) {
    this.database = openDatabase(path);
    this.database.pragma("journal_mode = WAL");
    this.database.exec(
      `CREATE TABLE IF NOT EXISTS bookings (
         id INTEGER PRIMARY KEY, key TEXT UNIQUE, item TEXT, status TEXT, version INTEGER)`,
    );
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(path: string): Promise<BookingService> {
    const service = new BookingService(path);
    await new Promise<void>((resolve) => service.#server.listen(0, "127.0.0.1", resolve));
    return service;
  }

  get origin(): string {
    // A listening TCP server has such an address.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  bookings(where = "1"): Booking[] {
    return this.database
      .prepare(`SELECT * FROM bookings WHERE status IN ('booked', 'collected') AND ${where}`)
      .all() as Booking[];
  }

  /** Holds the next POST. */
  hold(when: "before" | "after") {
    let arrive: () => void = () => undefined;
    let open: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.#gate = { when, arrive, opened };
    return { arrived, release: () => open() };
  }

  /** Breaks every connection. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    this.database.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "", url: path = "", headers } = request;
    const seen = { method, path, headers, body: Buffer.concat(chunks).toString("utf8") };
    this.seen.push(seen);
    const gate = method === "POST" ? this.#gate : null;
    if (gate !== null) this.#gate = null;
    if (gate?.when === "before") {
      gate.arrive();
      await gate.opened;
    }
    const [status, body, more = {}] = this.answer(seen) ?? this.#act(seen);
    if (gate?.when === "after") {
      gate.arrive();
      await gate.opened;
    }
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const type = typeof body === "string" ? "text/plain" : "application/json";
    response.writeHead(status, { "content-type": type, ...more });
    response.end(text);
  }

  #act({ method, path, headers, body }: Seen): Reply {
    const [, kind, name = "", key = ""] = path.split("/").map(decodeURIComponent);
    if (kind !== "bookings") return [404, { error: "no such path" }];
    if (method === "POST" && name === "") return this.#book(headers, body);
    const byKey = name === "by-key";
    const found = byKey ? this.#find("key", key) : this.#find("id", Number(name));
    if (method === "GET") return found === null ? [404, { error: "none" }] : shown(200, found);
    if (method !== "DELETE") return [405, { error: "not allowed" }];
    if (found === null && byKey) {
      this.#insert(key, "", "refused");
      return [404, { error: "none, and the key is refused from now on" }];
    }
    return this.#cancel(found, headers["if-match"], byKey);
  }

  #book(headers: Seen["headers"], body: string): Reply {
    const key = String(headers["idempotency-key"] ?? "");
    const known = this.#find("key", key);
    if (known?.status === "refused" || known?.status === "cancelled") {
      return [410, { error: "this key was cancelled" }];
    }
    if (known !== null) return shown(201, known);
    const { item } = JSON.parse(body) as { item?: unknown };
    if (typeof item !== "string") {
      return [422, { detail: [{ loc: ["body", "item"], msg: "field required", type: "missing" }] }];
    }
    this.#insert(key, item, "booked");
    return shown(201, this.#find("key", key));
  }

  #cancel(found: Booking | null, ifMatch: string | undefined, byKey: boolean): Reply {
    if (found === null || found.status === "cancelled") return [410, { error: "gone" }];
    if (found.status === "collected") return [409, { error: "already collected" }];
    if (ifMatch !== undefined && ifMatch !== `"${found.version}"`)
      return [412, { error: "changed" }];
    if (byKey && found.version > 1) return [409, { error: "changed since" }];
    this.database.prepare("UPDATE bookings SET status = 'cancelled' WHERE id = ?").run(found.id);
    return [200, {}];
  }

  #find(column: "id" | "key", value: string | number): Booking | null {
    const [row] = this.database.prepare(`SELECT * FROM bookings WHERE ${column} = ?`).all(value);
    return row === undefined ? null : (row as Booking);
  }

  #insert(key: string, item: string, status: Booking["status"]): void {
    this.database
      .prepare("INSERT INTO bookings (key, item, status, version) VALUES (?, ?, ?, 1)")
      .run(key, item, status);
  }
}

function shown(status: number, booking: Booking | null): Reply {
  if (booking === null || booking.status === "refused") return [404, { error: "none" }];
  const { id, item, version, status: state } = booking;
  return [status, { id, item, status: state }, { etag: `"${version}"` }];
}
