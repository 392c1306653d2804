// Owns SQLite as a peer: better-sqlite3, write-ahead log, synchronous OFF, one table of blobs.
import { join } from "node:path";
import Database from "better-sqlite3";

export const DURABILITY = "WAL, synchronous OFF; an open transaction is lost with the process";

export function openSqlite(directory) {
  const database = new Database(join(directory, "peer.sqlite"));
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = OFF");
  database.exec("CREATE TABLE entries (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID");
  const put = database.prepare("INSERT OR REPLACE INTO entries (key, value) VALUES (?, ?)");
  const get = database.prepare("SELECT value FROM entries WHERE key = ?").pluck();
  return {
    put: (key, value) => put.run(key, value),
    get: (key) => get.get(key) ?? null,
    run: (sql) => database.exec(sql),
    /** One transaction of puts, as the library's users write it. */
    putAll: database.transaction((entries) => {
      for (const [key, value] of entries) put.run(key, value);
    }),
    close: () => database.close(),
  };
}
