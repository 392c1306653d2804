// What the three services have in common: an HTTP server on loopback, one SQLite file, and a table
// of idempotency keys. A request and its key are recorded in one SQLite transaction, so a repeated
// request gets the first answer, and a key that was voided can never land later.
//
//   GET  /keys/:key        what became of this key: 200 { state: "done" | "void", … } or 404
//   POST /keys/:key/void   refuse the key from now on: 200, or 409 with the answer it already gave
//   GET  /ledger           everything the service holds
//   POST /admin/faults     { lose?, hold?, delayMs? }: how the next requests misbehave
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import Database from "better-sqlite3";

const BODY_BYTES_MAX = 64 * 1024;

/** An honest refusal: nothing was changed. */
export class Refusal extends Error {
  constructor(status, code, message, field = null) {
    super(message);
    this.status = status;
    this.body = { error: { code, message, ...(field === null ? {} : { field }) } };
  }
}

/**
 * Runs a service until its standard input closes (the parent is gone) or it gets SIGTERM.
 * `routes` maps "METHOD /path/:param" to a handler; `keyed` ones need an Idempotency-Key header.
 * Announces `{"service","url"}` as one line on stdout.
 */
export function startService({ name, tables, prepare, routes }) {
  const db = new Database(join(process.argv[2] ?? ".", `${name}.sqlite`));
  db.pragma("journal_mode = WAL");
  db.exec(`CREATE TABLE IF NOT EXISTS idempotency (
    key TEXT PRIMARY KEY, digest TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN ('done','void')),
    status INTEGER NOT NULL, body TEXT NOT NULL)`);
  db.exec(tables);
  prepare?.(db);
  const faults = { lose: 0, hold: 0, delayMs: 0 };
  const table = { ...keyRoutes(db), ...adminRoutes(faults), ...routes(db) };
  const compiled = Object.entries(table).map(([route, handler]) => compile(route, handler));

  const server = createServer((request, response) => {
    answer(compiled, db, request)
      .then(({ status, body, keyed, replayed }) => {
        deliver({ request, response, status, body, replayed, faults, faulty: keyed });
      })
      .catch((error) => {
        process.stderr.write(`${name}: ${error.stack}\n`);
        deliver({
          request,
          response,
          status: 500,
          body: { error: { code: "internal", message: "internal error" } },
          faults,
          faulty: false,
        });
      });
  });
  server.listen(0, "127.0.0.1", () => {
    const url = `http://127.0.0.1:${server.address().port}`;
    process.stdout.write(`${JSON.stringify({ service: name, url })}\n`);
  });

  const stop = () => {
    server.close(() => db.close());
    server.closeAllConnections();
    process.stdin.destroy();
  };
  process.once("SIGTERM", stop);
  process.stdin.once("end", stop).once("error", stop).resume();
}

function compile(route, handler) {
  const [method, path] = route.split(" ");
  const names = [...path.matchAll(/:(\w+)/g)].map((match) => match[1]);
  const pattern = new RegExp(`^${path.replace(/:\w+/g, "([^/]+)")}$`);
  return {
    method,
    pattern,
    names,
    ...(typeof handler === "function" ? { run: handler } : handler),
  };
}

async function answer(compiled, db, request) {
  const url = new URL(request.url, "http://localhost");
  for (const route of compiled) {
    const match = request.method === route.method ? route.pattern.exec(url.pathname) : null;
    if (match === null) continue;
    const values = match.slice(1).map(decodeURIComponent);
    const params = Object.fromEntries(route.names.map((name, index) => [name, values[index]]));
    try {
      const body = request.method === "POST" ? await readJson(request) : {};
      if (!route.keyed) return { ...route.run({ params, body }), keyed: false };
      const key = request.headers["idempotency-key"];
      if (!key) throw new Refusal(400, "missing_key", "The Idempotency-Key header is required.");
      return { ...once(db, key, { params, body }, route), keyed: true };
    } catch (error) {
      if (error instanceof Refusal) return { status: error.status, body: error.body, keyed: false };
      throw error;
    }
  }
  return { ...new Refusal(404, "not_found", "No such resource."), keyed: false };
}

/** Runs a request at most once per key; work and key are one SQLite transaction. */
function once(db, key, { params, body }, route) {
  const digest = createHash("sha256")
    .update(JSON.stringify([params, body]))
    .digest("hex");
  return db
    .transaction(() => {
      const seen = db.prepare("SELECT * FROM idempotency WHERE key = ?").get(key);
      if (seen?.state === "void") throw new Refusal(410, "key_voided", "This key was voided.");
      if (seen && seen.digest !== digest) {
        throw new Refusal(422, "key_reused", "This key was used for another request.");
      }
      if (seen) return { status: seen.status, body: JSON.parse(seen.body), replayed: true };
      const result = route.run({ params, body, key });
      db.prepare("INSERT INTO idempotency VALUES (?, ?, 'done', ?, ?)").run(
        key,
        digest,
        result.status,
        JSON.stringify(result.body),
      );
      return { ...result, replayed: false };
    })
    .immediate();
}

function keyRoutes(db) {
  const find = (key) => db.prepare("SELECT * FROM idempotency WHERE key = ?").get(key);
  return {
    "GET /keys/:key": ({ params }) => {
      const seen = find(params.key);
      if (!seen) throw new Refusal(404, "unknown_key", "This key was never used.");
      return { status: 200, body: { state: seen.state, answer: JSON.parse(seen.body) } };
    },
    "POST /keys/:key/void": ({ params }) =>
      db
        .transaction(() => {
          const seen = find(params.key);
          if (seen?.state === "done") {
            return { status: 409, body: { state: "done", answer: JSON.parse(seen.body) } };
          }
          db.prepare(
            "INSERT INTO idempotency VALUES (?, '', 'void', 410, 'null') ON CONFLICT DO NOTHING",
          ).run(params.key);
          return { status: 200, body: { state: "void" } };
        })
        .immediate(),
  };
}

function adminRoutes(faults) {
  return {
    "POST /admin/faults": ({ body }) => {
      for (const name of Object.keys(faults)) {
        if (Number.isInteger(body[name]) && body[name] >= 0) faults[name] = body[name];
      }
      return { status: 200, body: { ...faults } };
    },
  };
}

/** Writes the answer, unless a fault says to lose it (socket cut) or to hold it for ever. */
function deliver({ request, response, status, body, replayed = false, faults, faulty }) {
  if (faulty && faults.lose > 0) {
    faults.lose -= 1;
    request.socket.destroy();
    return;
  }
  if (faulty && faults.hold > 0) {
    faults.hold -= 1;
    return;
  }
  const write = () => {
    const text = JSON.stringify(body);
    response.writeHead(status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      ...(replayed ? { "idempotency-replayed": "true" } : {}),
    });
    response.end(text);
  };
  if (faulty && faults.delayMs > 0) setTimeout(write, faults.delayMs);
  else write();
}

async function readJson(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Refusal(413, "too_large", "The body is too large.");
    chunks.push(chunk);
  }
  if (bytes === 0) return {};
  try {
    const value = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Answered below like any other malformed body.
  }
  throw new Refusal(400, "invalid_json", "The body must be a JSON object.");
}
