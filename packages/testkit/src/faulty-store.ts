// Owns a store around another that fails or kills at the n-th durable write.
//
//   Z1 Every call that writes is counted, in order, over all handles of this wrapper.
//   Z2 `before`: the write did not happen. `after`: it did, and the caller does not learn it.
//   Z3 Reads pass through untouched.

import { AgentTxError } from "@agenttx/model";
import type { Store, StoreTransaction } from "@agenttx/storage";

export interface FaultPlan {
  /** Which durable write, from 1; later ones too when `sticky`. */
  readonly write: number;
  readonly when: "before" | "after";
  readonly kind: "throw" | "hang" | "kill";
  readonly sticky?: boolean;
  /** What `throw` throws. Default: AgentTxError INTERNAL that names the write. */
  readonly error?: Error;
}

export interface FaultyStore extends Store {
  /** Durable writes so far, by name of the call: how many points a plan can choose from. */
  readonly writes: readonly string[];
  /** Replaces the plan; null lets everything through. Counting goes on. */
  setPlan(plan: FaultPlan | null): void;
}

const STORE_WRITES = ["writeRecords"] as const;
const STORE_BEGINS = ["begin", "fork"] as const;
const HANDLE_WRITES = [
  "put",
  "delete",
  "write",
  "createSnapshot",
  "restoreSnapshot",
  "apply",
  "commit",
  "discard",
] as const;

/** The store with faults as planned; null counts only. It stays yours to close. */
export function faultyStore(store: Store, plan: FaultPlan | null): FaultyStore {
  const writes: string[] = [];
  let current = plan;

  const due = (number: number, when: FaultPlan["when"]): FaultPlan | null => {
    if (current === null || current.when !== when) return null;
    const hit = current.sticky === true ? number >= current.write : number === current.write;
    return hit ? current : null;
  };
  const counted = async <Result>(name: string, write: () => Promise<Result>): Promise<Result> => {
    const number = writes.push(name);
    await happen(due(number, "before"), name, number);
    const result = await write();
    await happen(due(number, "after"), name, number);
    return result;
  };
  const wrapHandle = (tx: StoreTransaction): StoreTransaction =>
    intercept(tx, (name, call) =>
      includes(HANDLE_WRITES, name) ? (...args) => counted(name, () => call(...args)) : call,
    );
  const wrapped = intercept(store, (name, call) => {
    if (includes(STORE_WRITES, name)) return (...args) => counted(name, () => call(...args));
    if (includes(STORE_BEGINS, name)) {
      return async (...args) =>
        wrapHandle((await counted(name, () => call(...args))) as StoreTransaction);
    }
    if (name === "attach")
      return async (...args) => wrapHandle((await call(...args)) as StoreTransaction);
    return call;
  });
  return new Proxy(wrapped, {
    get: (target, name) => {
      if (name === "writes") return writes;
      if (name === "setPlan") {
        return (next: FaultPlan | null): void => {
          current = next;
        };
      }
      return Reflect.get(target, name, target);
    },
  }) as FaultyStore;
}

type Call = (...args: unknown[]) => Promise<unknown>;

/** The same object with its methods passed through `around`; fields are read as they are. */
function intercept<Target extends object>(
  target: Target,
  around: (name: string, call: Call) => Call,
): Target {
  return new Proxy(target, {
    get: (inner, name) => {
      // The receiver is the inner object: its private fields are not the proxy's.
      const value: unknown = Reflect.get(inner, name, inner);
      if (typeof value !== "function") return value;
      const bound = value.bind(inner) as Call;
      return typeof name === "string" ? around(name, bound) : bound;
    },
  });
}

function includes(names: readonly string[], name: string): boolean {
  return names.includes(name);
}

async function happen(plan: FaultPlan | null, name: string, number: number): Promise<void> {
  if (plan === null) return;
  if (plan.kind === "throw") {
    throw (
      plan.error ??
      new AgentTxError("INTERNAL", `Fault injected ${plan.when} durable write ${number} (${name}).`)
    );
  }
  if (plan.kind === "kill") process.kill(process.pid, "SIGKILL");
  await new Promise<never>(() => undefined);
}
