// Owns the tour: a fixed plan that passes every named point of normal work at least once. What it
// leaves open at its end, the next process finds. On a slow machine a deadline may pass where the
// plan does not want it: then that transaction's part is cut short.
import { abort, begin, commit, rollback, step } from "./acts.mjs";

export async function tour(engine, prefix) {
  let last = 0;
  const name = () => {
    last += 1;
    return `${prefix}-${last}`;
  };
  const act = async (tx, tool, argsOf) => {
    const item = name();
    if (tx.status === "ACTIVE") await step(tx, item, tool, argsOf(item));
  };
  const put = (tx, key) =>
    act(tx, "kv.put", (item) => ({ key: key ?? `own/${item}`, value: item }));
  const outside = (tx, tool, more = {}) => act(tx, tool, (item) => ({ item, ...more }));
  const stage = (tx) => act(tx, "effect.stage", (item) => ({ sink: "mail", payload: { item } }));
  const end = (tx) => (tx.status === "ACTIVE" ? commit(tx) : abort(tx));

  const left = await begin(engine, name());
  await put(left);
  await outside(left, "book");
  await outside(left, "parts");
  await stage(left);

  const main = await begin(engine, name());
  await put(main);
  await outside(main, "book");
  await stage(main);
  await outside(main, "parts");
  await act(main, "refuse", () => ({ field: "nothing" }));
  await outside(main, "book", { fail: true });
  await outside(main, "book", { delayMs: 150 });
  if (main.status === "ACTIVE") await rollback(main, Math.min(2, main.nextStep));
  await act(main, "bump", () => ({ counter: "0" }));
  await outside(main, "book");
  await stage(main);
  await put(main, "shared/0");
  await end(main);

  const gone = await begin(engine, name());
  await put(gone);
  await outside(gone, "wire");
  await stage(gone);
  await abort(gone);

  const winner = await begin(engine, name());
  const loser = await begin(engine, name());
  await put(winner, "shared/1");
  await put(loser, "shared/1");
  await outside(loser, "book");
  await end(winner);
  await end(loser);

  const frozen = await begin(engine, name());
  await put(frozen);
  await outside(frozen, "book");
  await outside(frozen, "wire", { delayMs: 150 });
}
