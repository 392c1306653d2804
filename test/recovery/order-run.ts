// Owns one run of an order from its start to its end, by whoever finds it: it looks at what is there
// and does the next thing. Run again after a crash, it goes on.

import type { TransactionView } from "@agenttx/model";
import { isAgentTxError } from "@agenttx/model";
import type { WorkflowView } from "@agenttx/recovery";
import type { House, OrderWorld } from "./order-world.js";

export interface Scenario {
  readonly name: string;
  /** After the last step of revision 1, before the recovery is asked for. */
  readonly beforeFreeze: (world: OrderWorld) => void;
  /** Steps of revision 2 after what it inherits. */
  readonly revised: readonly Step[];
  /** What a person says about an effect that waits for one. */
  readonly says?: "accepted-as-is" | "happened" | "did-not-happen";
  /** Bookings and captures that stand in the end. */
  readonly standing: { readonly stock: number; readonly carrier: number };
  /** The carrier books and answers nothing, until the recovery is asked for. */
  readonly silentCarrier?: true;
  /** The owner is back when the recovery has waited for it this often. */
  readonly reachableAfterWaits?: number;
}

export type Step = readonly [tool: string, args: Readonly<Record<string, string>>];

export const ORDER = "order-1";
export const CHECKPOINT_STEP = 3;
const BY = { actor: "ops", reason: "warehouse exception" };

const PLAN: readonly Step[] = [
  ["stock.reserve", { order: "1" }],
  ["put", { key: "reservation", value: "r1" }],
  ["mail", { order: "1" }],
  ["carrier.book", { order: "1" }],
  ["put", { key: "booking", value: "b1" }],
];

const REBOOKED: readonly Step[] = [
  ["carrier.book", { order: "1" }],
  ["put", { key: "booking", value: "b2" }],
];

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "carrier booked and unused",
    beforeFreeze: () => undefined,
    revised: REBOOKED,
    standing: { stock: 1, carrier: 1 },
  },
  {
    name: "parcel already collected",
    beforeFreeze: ({ carrier }) => {
      carrier.collected = true;
    },
    revised: [["put", { key: "booking", value: "b1, collected" }]],
    says: "accepted-as-is",
    standing: { stock: 1, carrier: 1 },
  },
  {
    name: "carrier unreachable for a while",
    beforeFreeze: ({ carrier }) => {
      carrier.mode = "unreachable";
    },
    revised: REBOOKED,
    reachableAfterWaits: 3,
    standing: { stock: 1, carrier: 1 },
  },
  {
    name: "carrier timed out but did book",
    silentCarrier: true,
    beforeFreeze: ({ carrier }) => {
      carrier.mode = "healthy";
    },
    revised: REBOOKED,
    standing: { stock: 1, carrier: 1 },
  },
];

const ROUNDS_MAX = 200;

/** Goes on until the order is committed. Rejects when the process dies on the way. */
export async function runOrder(house: House, world: OrderWorld, scenario: Scenario): Promise<void> {
  await house.engine.recover();
  await house.recovery.resumeAll();
  let waits = 0;
  const wait = async (): Promise<void> => {
    waits += 1;
    if (waits === scenario.reachableAfterWaits) world.carrier.mode = "healthy";
    await house.clock.advance(5_100);
  };
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const view = await viewOf(house);
    if (view === null && scenario.silentCarrier) world.carrier.mode = "silent";
    if (view === null) await house.recovery.workflows.start({ id: ORDER, name: "Order 1" });
    else if (view.transactionStatus === "COMMITTED") return;
    else await next(house, world, scenario, view, wait);
  }
  throw new Error("the order does not come to an end");
}

async function viewOf({ recovery }: House): Promise<WorkflowView | null> {
  try {
    return await recovery.workflows.get(ORDER);
  } catch (error) {
    if (isAgentTxError(error) && error.code === "NOT_FOUND") return null;
    throw error;
  }
}

async function next(
  house: House,
  world: OrderWorld,
  scenario: Scenario,
  view: WorkflowView,
  wait: () => Promise<void>,
): Promise<void> {
  const { recovery } = house;
  switch (view.state) {
    case "Running":
      if (view.transactionStatus === "FROZEN") {
        return scenario.silentCarrier ? askForRecovery(house, world, scenario) : wait();
      }
      return runRevision(house, world, scenario, view);
    case "Frozen": {
      return applyNewest(house);
    }
    case "Compensating":
    case "Recovered":
      await recovery.resume(ORDER, { actor: "ops" });
      return;
    case "Reconciliation":
      return reconcile(house, scenario, wait);
  }
}

async function runRevision(
  house: House,
  world: OrderWorld,
  scenario: Scenario,
  view: WorkflowView,
): Promise<void> {
  const workflow = await house.recovery.workflows.open(ORDER);
  const plan = view.revision === 1 ? PLAN : scenario.revised;
  const { nextStep } = workflow.transaction;
  // Opening it may have continued a rollback that had to stop at an unresolved effect.
  if (nextStep === 0) return;
  if (nextStep <= plan.length) {
    if (view.revision === 1 && nextStep === CHECKPOINT_STEP + 1) {
      await workflow.checkpoint("reserved");
    }
    const [tool, args] = plan[nextStep - 1] ?? ["", {}];
    await workflow.step(tool, args);
  } else if (view.revision === 1) {
    await askForRecovery(house, world, scenario);
  } else await workflow.commit();
}

async function askForRecovery(house: House, world: OrderWorld, scenario: Scenario) {
  scenario.beforeFreeze(world);
  await house.recovery.freeze(ORDER, BY);
}

/** A late success in the background may change the basis: then the next round plans again. */
async function applyNewest({ recovery }: House): Promise<void> {
  try {
    await recovery.apply(await recovery.plan(ORDER), { actor: "ops" });
  } catch (error) {
    if (!isAgentTxError(error) || error.code !== "PLAN_CHANGED") throw error;
  }
}

async function reconcile(
  { recovery }: House,
  scenario: Scenario,
  wait: () => Promise<void>,
): Promise<void> {
  const items = await recovery.reconciliation.list(ORDER);
  const asked = items.find(({ effect }) => effect.waitsFor === "person");
  if (asked === undefined || scenario.says === undefined) return wait();
  const resolution = { kind: scenario.says, actor: "ada", note: "asked the carrier" };
  await recovery.reconciliation.resolve(asked.effect.effectId, resolution);
}

/** Every transaction that the workflow ever had, as it ended. */
export async function revisionsOf(house: House): Promise<readonly TransactionView[]> {
  const { revisions } = await house.recovery.workflows.get(ORDER);
  return Promise.all(revisions.map(({ transaction }) => house.engine.get(transaction)));
}
