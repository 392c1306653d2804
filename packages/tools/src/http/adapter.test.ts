// Goal: http.request keeps the contract of adapters when a service is declared well. Method: the
// adapter suite against a real service with SQLite, by answer and version, and by key alone.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { adapterConformance } from "../adapter-kit/suite.js";
import type { AdapterCase } from "../adapter-kit/world.js";
import { BookingService } from "../testing/booking-service.js";
import type { CallRule } from "./rules.js";
import { httpTools } from "./tools.js";

const directory = mkdtempSync(join(tmpdir(), "agenttx-http-kit-"));
const service = await BookingService.start(join(directory, "bookings.db"));
afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true, force: true });
});

const lookup = {
  path: "bookings/by-key/{key}",
  status: 201,
  cancelled: { field: "status", values: ["cancelled"] },
};

const RULES: Readonly<Record<string, CallRule>> = {
  "by its answer": {
    method: "POST",
    path: "bookings",
    lookup,
    cancel: { method: "DELETE", path: "bookings/{output.body.id}", ifMatch: true },
  },
  "by its key": {
    method: "POST",
    path: "bookings",
    lookup,
    cancel: { method: "DELETE", path: "bookings/by-key/{key}" },
  },
};

let cases = 0;

function begin(): AdapterCase {
  cases += 1;
  const mine = `item LIKE 'case-${cases}-%'`;
  const url = `${service.origin}/bookings`;
  const call = (name: string) => ({ method: "POST", url, body: { item: `case-${cases}-${name}` } });
  const change = (to: string): void =>
    void service.database.exec(`UPDATE bookings SET version = version + 1, item = item || '${to}'
      WHERE ${mine}`);
  const back = (): void =>
    void service.database.exec(`UPDATE bookings SET version = version + 1,
      item = replace(item, '-theirs', '') WHERE ${mine}`);
  return {
    args: call("a"),
    nextArgs: call("b"),
    snapshot: () => service.bookings(mine).map(({ item, status }) => ({ item, status })),
    change: () => change("-theirs"),
    changeAndChangeBack: () => {
      change("-theirs");
      back();
    },
    hold: (when) => service.hold(when),
  };
}

for (const [way, rule] of Object.entries(RULES)) {
  const [tool] = httpTools({
    allow: [{ url: service.origin, networks: ["127.0.0.1"], calls: [rule] }],
    settleMs: 100,
  });
  describe(`cancelled ${way}`, () => {
    adapterConformance({ describe, it, expect }, { tool, world: { begin } });
  });
}
