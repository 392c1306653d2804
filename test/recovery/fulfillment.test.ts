// Goal: the order of the example is recovered with real owners: inventory, carrier and payments as
// processes of their own, each with its database, and the store on RocksDB. What everyone holds in
// the end is read from them, not from us.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine, type Engine, type ToolShape } from "@agenttx/engine";
import { createRecovery, defineInvariant, type Recovery } from "@agenttx/recovery";
import { openStore } from "@agenttx/storage";
import { afterEach, beforeEach, expect, it } from "vitest";

interface Services {
  readonly urls: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}
interface Ledger {
  readonly bookings: readonly { readonly id: string; readonly state: string }[];
  readonly reservations: readonly { readonly state: string }[];
  readonly captures: readonly { readonly state: string }[];
  readonly stock: readonly { readonly free: number }[];
}

const BY = { actor: "ops", reason: "warehouse exception" };
const OPS = { actor: "ops" };
const LIMITS = { backoffBaseMs: 50, backoffCapMs: 200, pollMs: 100, inlineTries: 1 };
/** Longer than any answer of a service on this machine, short enough for a test. */
const DEADLINE_MS = 700;

let place: string;
let services: Services;
let store: Awaited<ReturnType<typeof openStore>>;
let engine: Engine<readonly ToolShape[]>;
let recovery: Recovery;

beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), "agenttx-recovery-"));
  const { launchServices } = await load<{ launchServices(at: string): Promise<Services> }>(
    "services/launch.mjs",
  );
  services = await launchServices(join(place, "services"));
  Object.assign(process.env, services.env, { OUTBOX_FILE: join(place, "outbox.jsonl") });
  const { tools } = await load<{ tools: readonly ToolShape[] }>("tools.mjs");
  const quick: readonly ToolShape[] = tools.map((tool) => ({ ...tool, deadlineMs: DEADLINE_MS }));
  store = await openStore({ path: join(place, "store") });
  engine = createEngine({ store, tools: quick, effects: LIMITS });
  recovery = createRecovery({ engine, store, invariants: [noBookingWithoutStock] });
});

afterEach(async () => {
  await engine.close();
  await store.close();
  await services.stop();
  for (const name of [...Object.keys(services.env), "OUTBOX_FILE"]) delete process.env[name];
  rmSync(place, { recursive: true, force: true });
});

/** Of the ledger, not of the state: each standing booking stands on a standing reservation. */
const noBookingWithoutStock = defineInvariant("bookings have stock", (_view, ledger) => {
  const standing = (tool: string) =>
    ledger.filter((one) => one.tool === tool && one.state === "confirmed").length;
  return standing("carrier.book") <= standing("inventory.reserve") || "a booking without stock";
});

/** Reserves, takes a checkpoint, books the carrier: the warehouse exception comes then. */
async function untilTheException() {
  const order = await recovery.workflows.start({ id: "A-1", name: "Order A-1" });
  await order.step("inventory.reserve", { sku: "KB-75", quantity: 2 });
  await order.checkpoint("reserved");
  const booking = { customer_id: 1042, reservation_id: "RES-1" };
  return { order, book: () => order.step("carrier.book", booking) };
}

async function revise() {
  const second = await recovery.workflows.open("A-1");
  expect(second.revision).toBe(2);
  await second.step("carrier.book", { customer_id: 1042, reservation_id: "RES-1" });
  await second.step("payments.capture", { customer_id: 1042, amount_cents: 15_800 });
  expect((await second.commit()).status).toBe("COMMITTED");
}

it("cancels a booked and unused carrier; the new revision commits, nothing is booked twice", async () => {
  const { book } = await untilTheException();
  expect((await book()).status).toBe("SUCCESS");
  await recovery.freeze("A-1", BY);
  const plan = await recovery.plan("A-1");
  expect(plan.undo.map(({ tool }) => tool)).toEqual(["carrier.book"]);
  expect((await recovery.apply(plan, OPS)).state).toBe("Running");
  await revise();
  expect(await bookings()).toEqual(["BKG-1 cancelled", "BKG-2 booked"]);
  expect((await ledger("inventory")).reservations.map(({ state }) => state)).toEqual(["reserved"]);
  expect((await ledger("payments")).captures.map(({ state }) => state)).toEqual(["captured"]);
});

it("releases the stock too when it goes back to the start", async () => {
  const { book } = await untilTheException();
  await book();
  await recovery.freeze("A-1", BY);
  const plan = await recovery.plan("A-1", { checkpoint: "start" });
  expect(plan.undo.map(({ tool }) => tool)).toEqual(["carrier.book", "inventory.reserve"]);
  await recovery.apply(plan, OPS);
  expect(await bookings()).toEqual(["BKG-1 cancelled"]);
  const { stock, reservations } = await ledger("inventory");
  expect([stock[0]?.free, reservations.map(({ state }) => state)]).toEqual([20, ["released"]]);
});

it("sends a collected parcel to a person and never says that it was rolled back", async () => {
  const { book } = await untilTheException();
  await book();
  await call("carrier", "/admin/collect", { booking_id: "BKG-1" });
  await recovery.freeze("A-1", BY);
  const view = await recovery.apply(await recovery.plan("A-1"), OPS);
  expect(view.state).toBe("Reconciliation");
  const [item, ...others] = await recovery.reconciliation.list("A-1");
  expect(others).toEqual([]);
  expect(item?.effect).toMatchObject({ state: "unresolved", waitsFor: "person" });
  expect(item?.effect.problem).toContain("already_collected");
  expect(item?.effect.receipt).toMatchObject({ booking_id: "BKG-1" });
  expect(item?.evidence.map(({ event }) => event)).toEqual(["request", "compensate", "give-up"]);
  const said = { actor: "ada", note: "delivered to the customer" };
  await recovery.reconciliation.resolve(item?.effect.effectId ?? "", {
    ...said,
    kind: "accepted-as-is",
  });
  expect(await recovery.workflows.get("A-1")).toMatchObject({ state: "Running", revision: 2 });
  const { effects } = await recovery.replay("A-1");
  expect(Object.values(effects).sort()).toEqual(["confirmed", "resolved"]);
  expect(await bookings()).toEqual(["BKG-1 collected"]);
});

it("finds a booking whose answer never came, and cancels it", async () => {
  const { book } = await untilTheException();
  await call("carrier", "/admin/faults", { hold: 1 });
  const lookups = unreachable("CARRIER_URL", DEADLINE_MS / 2);
  const outcome = await book();
  expect(outcome).toMatchObject({ status: "FAILED", transactionStatus: "FROZEN" });
  await recovery.freeze("A-1", BY);
  const plan = await recovery.plan("A-1");
  expect(plan.lookUp.map(({ tool, canLookUp }) => [tool, canLookUp])).toEqual([
    ["carrier.book", true],
  ]);
  expect(await bookings()).toEqual(["BKG-1 booked"]);
  lookups.back();
  await recovery.apply(plan, OPS);
  await until(async () => (await recovery.workflows.get("A-1")).state === "Running");
  expect(await bookings()).toEqual(["BKG-1 cancelled"]);
  await revise();
  expect(await bookings()).toEqual(["BKG-1 cancelled", "BKG-2 booked"]);
});

it("leaves an unreachable carrier unresolved, and goes on by itself when it is back", async () => {
  const { book } = await untilTheException();
  await book();
  const carrier = unreachable("CARRIER_URL", 0);
  await recovery.freeze("A-1", BY);
  const view = await recovery.apply(await recovery.plan("A-1"), OPS);
  expect(view.state).toBe("Reconciliation");
  expect((await engine.unresolved()).map(({ tool, waitsFor }) => [tool, waitsFor])).toEqual([
    ["carrier.book", "retry"],
  ]);
  carrier.back();
  await until(async () => (await recovery.workflows.get("A-1")).state === "Running");
  const { events } = await recovery.explain("A-1");
  const reconciled = events.find(({ event }) => event === "reconciled");
  expect(reconciled?.actor).toBe("system");
  expect(await bookings()).toEqual(["BKG-1 cancelled"]);
});

it("goes on when a person settles what stays unreachable", async () => {
  const { book } = await untilTheException();
  await book();
  const carrier = unreachable("CARRIER_URL", 0);
  await recovery.freeze("A-1", BY);
  await recovery.apply(await recovery.plan("A-1"), OPS);
  const [item] = await recovery.reconciliation.list("A-1");
  const kind = "compensated-by-hand";
  const note = "cancelled on the phone";
  await recovery.reconciliation.resolve(item?.effect.effectId ?? "", { kind, actor: "ada", note });
  expect(await recovery.workflows.get("A-1")).toMatchObject({ state: "Running", revision: 2 });
  carrier.back();
});

/** Modules of the example are plain JavaScript; the caller names what it uses of them. */
async function load<Module>(file: string): Promise<Module> {
  const url = new URL(`../../examples/fulfillment/${file}`, import.meta.url);
  return (await import(url.href)) as Module;
}

/** From then on calls go to a port where nobody listens. */
function unreachable(setting: string, afterMs: number): { back(): void } {
  const real = process.env[setting];
  const timer = setTimeout(() => {
    process.env[setting] = "http://127.0.0.1:9";
  }, afterMs);
  if (afterMs === 0) {
    clearTimeout(timer);
    process.env[setting] = "http://127.0.0.1:9";
  }
  return {
    back: () => {
      process.env[setting] = real;
    },
  };
}

async function ledger(service: string): Promise<Ledger> {
  const response = await fetch(`${services.urls[service]}/ledger`);
  return (await response.json()) as Ledger;
}

async function bookings(): Promise<string[]> {
  return (await ledger("carrier")).bookings.map(({ id, state }) => `${id} ${state}`);
}

async function call(service: string, path: string, body: object): Promise<void> {
  const request = { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(`${services.urls[service]}${path}`, request);
  expect(response.ok).toBe(true);
}

const POLL_MS = 20;
const WAIT_MS_MAX = 10_000;

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error("it did not happen in time");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
