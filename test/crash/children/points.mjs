// Owns the named points of a victim: before and after each kind of durable write. A kind is the
// call, what its audit entries say, and which records it puts (+) or removes (-).
import { point } from "./point.mjs";

const HANDLE_WRITES = ["apply", "restoreSnapshot", "commit", "discard"];

/** The store with a fault point on each side of every write. */
export function pointedStore(store) {
  return intercept(store, (name, call) => {
    if (name === "begin") {
      return async (id, options) =>
        pointedHandle(await pointed("begin", options, () => call(id, options)));
    }
    if (name === "attach") return async (...args) => pointedHandle(await call(...args));
    if (name === "writeRecords") {
      return (id, batch) => pointed("write", batch, () => call(id, batch));
    }
    return call;
  });
}

function pointedHandle(tx) {
  return intercept(tx, (name, call) => {
    if (!HANDLE_WRITES.includes(name)) return call;
    return (...args) => pointed(name, args.at(-1), () => call(...args));
  });
}

async function pointed(call, batch, write) {
  const name = kindOf(call, batch ?? {});
  await point(`before ${name}`);
  const result = await write();
  await point(`after ${name}`);
  return result;
}

function kindOf(call, { audit = [], records = [], writes = [] }) {
  const told = audit.map((bytes) => {
    const { k, ev = "", why = "" } = JSON.parse(Buffer.from(bytes).toString());
    return k === "effect" ? ev : k === "rewound" ? `${k}-${why}` : k;
  });
  const kept = records.map(({ space, value }) => `${value === null ? "-" : "+"}${space}`);
  const parts = new Set([...told, ...kept, ...(writes.length > 0 ? ["state"] : [])]);
  return [call, ...parts].join(" ").replaceAll(/[:,]/g, ".");
}

function intercept(target, around) {
  return new Proxy(target, {
    get: (inner, name) => {
      // The receiver is the inner object: its private fields are not the proxy's.
      const value = Reflect.get(inner, name, inner);
      if (typeof value !== "function") return value;
      const bound = value.bind(inner);
      return typeof name === "string" ? around(name, bound) : bound;
    },
  });
}
