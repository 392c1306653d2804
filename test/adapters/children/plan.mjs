// Owns the plan of the test and the tools that it needs, for both processes that run them.
import { join } from "node:path";
import { fsTools } from "@agenttx/tools";
import { httpTools } from "@agenttx/tools/http";
import { sqlTools } from "@agenttx/tools/sql";

/** Tools on the files, the database and the booking service of one world. */
export function adapterTools(directory, origin) {
  const booking = {
    method: "POST",
    path: "bookings",
    lookup: {
      path: "bookings/by-key/{key}",
      status: 201,
      cancelled: { field: "status", values: ["cancelled"] },
    },
    cancel: { method: "DELETE", path: "bookings/{output.body.id}", ifMatch: true },
  };
  return [
    ...fsTools({ root: join(directory, "files") }),
    ...sqlTools({ path: join(directory, "shop.db") }),
    ...httpTools({ allow: [{ url: origin, networks: ["127.0.0.1"], calls: [booking] }] }),
  ];
}

export const PLAN = [
  "fs.write",
  "sql.exec",
  "http.request",
  "fs.delete",
  "sql.exec",
  "fs.write",
  "sql.exec",
];

/** Arguments of each step; the booking is for `item`. */
export function planArguments(origin, item) {
  return [
    { path: "reports/today.txt", content: "42 orders" },
    { sql: "UPDATE stock SET count = count - ? WHERE sku = ?", params: [2, "cup"] },
    { method: "POST", url: `${origin}/bookings`, body: { item } },
    { path: "draft.txt" },
    { sql: "INSERT OR REPLACE INTO orders (id, sku) VALUES (1, 'cup'), (2, 'pot')" },
    { path: "large.bin", content: "small now" },
    { sql: "DELETE FROM stock WHERE sku = 'pot'" },
  ];
}
