// Claims of the order of calls: one at a time per queue, small ones at once, reopen alone, close
// after what was accepted. Every step is made to happen by a promise of the test.

import { describe, expect, it } from "vitest";
import { CallGate, CallQueue } from "./call-gate.js";

/** A promise and its resolver. */
function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describe("CallQueue", () => {
  it("runs a small call before it returns", () => {
    const queue = new CallQueue(new CallGate());
    let ran = false;
    const answer = queue.run(() => {
      ran = true;
    });
    expect(ran).toBe(true);
    return answer;
  });

  it("makes calls one after another, in the order they were asked for", async () => {
    const queue = new CallQueue(new CallGate());
    const first = deferred();
    const order: string[] = [];
    const calls = [
      queue.run(() => first.promise.then(() => order.push("long"))),
      queue.run(() => order.push("second")),
      queue.run(() => order.push("third")),
    ];
    expect(order).toEqual([]);
    first.resolve();
    await Promise.all(calls);
    expect(order).toEqual(["long", "second", "third"]);
  });

  it("goes on after a call that failed", async () => {
    const queue = new CallQueue(new CallGate());
    const failed = queue.run(() => Promise.reject(new Error("first")));
    const next = queue.run(() => "second");
    await expect(failed).rejects.toThrow("first");
    expect(await next).toBe("second");
  });

  it("is idle again when the caller hears the answer", async () => {
    const queue = new CallQueue(new CallGate());
    await queue.run(() => Promise.resolve());
    let ran = false;
    const answer = queue.run(() => {
      ran = true;
    });
    expect(ran).toBe(true);
    await answer;
  });

  it("lets another queue pass", async () => {
    const gate = new CallGate();
    const long = deferred();
    const waiting = new CallQueue(gate).run(() => long.promise);
    expect(await new CallQueue(gate).run(() => "passed")).toBe("passed");
    long.resolve();
    await waiting;
  });

  it("turns what is thrown into a rejection with a code", async () => {
    const queue = new CallQueue(new CallGate());
    const answer = queue.run(() => {
      throw Object.assign(new Error("native"), { code: "NOT_FOUND" });
    });
    await expect(answer).rejects.toMatchObject({ code: "NOT_FOUND", name: "AgentTxError" });
    await expect(queue.run(() => Promise.reject(new TypeError("odd")))).rejects.toMatchObject({
      code: "INTERNAL",
    });
  });
});

describe("CallGate", () => {
  it("runs an exclusive call after the running ones and before the later ones", async () => {
    const gate = new CallGate();
    const queue = new CallQueue(gate);
    const running = deferred();
    const alone = deferred();
    const order: string[] = [];
    const calls = [
      queue.run(() => running.promise.then(() => order.push("running"))),
      gate.exclusively(() => {
        order.push("alone begins");
        return alone.promise.then(() => order.push("alone ends"));
      }),
      queue.run(() => order.push("later, same queue")),
      gate.run(() => order.push("later")),
    ];
    running.resolve();
    await calls[0];
    alone.resolve();
    await Promise.all(calls);
    expect(order.slice(0, 3)).toEqual(["running", "alone begins", "alone ends"]);
    expect(order.slice(3).sort()).toEqual(["later", "later, same queue"]);
  });

  it("lets calls pass again after an exclusive call that failed", async () => {
    const gate = new CallGate();
    await expect(gate.exclusively(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    let ran = false;
    await gate.run(() => {
      ran = true;
    });
    expect(ran).toBe(true);
  });

  it("refuses new calls once closed and finishes the accepted ones", async () => {
    const gate = new CallGate();
    const queue = new CallQueue(gate);
    const long = deferred();
    const accepted = [queue.run(() => long.promise), queue.run(() => "queued")];
    gate.close();
    await expect(queue.run(() => "late")).rejects.toMatchObject({ code: "STORE_CLOSED" });
    await expect(gate.exclusively(() => "late")).rejects.toMatchObject({ code: "STORE_CLOSED" });
    let drained = false;
    const drain = gate.drained().then(() => {
      drained = true;
    });
    await Promise.resolve();
    expect(drained).toBe(false);
    long.resolve();
    await drain;
    expect(await Promise.all(accepted)).toEqual([undefined, "queued"]);
  });
});
