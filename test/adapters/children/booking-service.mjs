// Owns a booking service in a process of its own: SQLite behind HTTP, idempotency keys, lookup by
// key, cancellation by id with versions. Arguments: database file. Prints its port, then one line
// for every booking that was made. `item` "hold…" is booked, but its answer never comes.
import { createServer } from "node:http";
import Database from "better-sqlite3";

const database = new Database(process.argv[2]);
database.pragma("journal_mode = WAL");
database.exec(`CREATE TABLE bookings (
  id INTEGER PRIMARY KEY, key TEXT UNIQUE, item TEXT, status TEXT, version INTEGER)`);

const find = (column, value) =>
  database.prepare(`SELECT * FROM bookings WHERE ${column} = ?`).get(value);

function act(method, path, headers, body) {
  const [, , name, key] = path.split("/").map(decodeURIComponent);
  if (method === "POST") {
    const id = headers["idempotency-key"];
    const known = find("key", id);
    if (known?.status === "cancelled") return [410, {}];
    if (known === undefined) {
      database
        .prepare("INSERT INTO bookings (key, item, status, version) VALUES (?, ?, 'booked', 1)")
        .run(id, JSON.parse(body).item);
      console.log(`booked ${JSON.parse(body).item}`);
    }
    return [201, find("key", id)];
  }
  const found = name === "by-key" ? find("key", key) : find("id", Number(name));
  if (found === undefined) return [404, {}];
  if (method === "GET") return [200, found];
  if (found.status === "cancelled") return [410, {}];
  if (headers["if-match"] !== `"${found.version}"`) return [412, {}];
  database.prepare("UPDATE bookings SET status = 'cancelled' WHERE id = ?").run(found.id);
  return [200, {}];
}

const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const [status, answer] = act(request.method, request.url, request.headers, body);
  if (request.method === "POST" && body.includes('"hold')) return;
  const etag = answer.version === undefined ? {} : { etag: `"${answer.version}"` };
  response.writeHead(status, { "content-type": "application/json", ...etag });
  response.end(JSON.stringify(answer));
});
server.listen(0, "127.0.0.1", () => console.log(`port ${server.address().port}`));
