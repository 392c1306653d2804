// Goal: work is with one worker at a time, comes back from the dead, and a worker's room is never lost.
import { describe, expect, it } from "vitest";
import { type WorkItem, WorkQueue } from "./work-queue.js";

const item = (tool: string, tenant = "t"): Omit<WorkItem, "workId"> => ({
  tenant,
  kind: "compensate",
  tool,
  toolVersion: "1",
  transaction: "x",
  step: 1,
  effectId: "x/1",
  idempotencyKey: "k",
  undoKey: "u",
  argumentsJson: "{}",
  outputJson: "",
  action: "",
  deadlineMs: 1_000,
});

function worker(workerId: string, inFlightMax = 1, tenant = "t") {
  const given: WorkItem[] = [];
  const slot = {
    tenant,
    workerId,
    tools: new Set(["a"]),
    inFlightMax,
    give: (one: WorkItem) => given.push(one),
  };
  return { given, slot };
}

const never = new AbortController().signal;
const answer = { status: "undone", outputJson: "", message: "" };

describe("the work queue", () => {
  it("gives an item to one worker of the tenant that serves the tool", async () => {
    const queue = new WorkQueue();
    const [one, other, foreign] = [worker("1"), worker("2"), worker("3", 1, "other")];
    for (const { slot } of [foreign, one, other]) queue.connect(slot);
    const done = queue.request(item("a"), never);
    expect([one.given.length, other.given.length, foreign.given.length]).toEqual([1, 0, 0]);
    const { workId = "" } = one.given[0] ?? {};
    expect(queue.complete("other", "1", workId, answer)).toBe(false);
    expect(queue.complete("t", "2", workId, answer)).toBe(false);
    expect(queue.complete("t", "1", workId, answer)).toBe(true);
    expect(queue.complete("t", "1", workId, answer)).toBe(false);
    expect(await done).toEqual(answer);
  });

  it("takes items back from a worker that goes away", () => {
    const queue = new WorkQueue();
    const [one, other] = [worker("1"), worker("2")];
    const disconnect = queue.connect(one.slot);
    void queue.request(item("a"), never);
    expect(queue.waiting().count).toBe(0);
    disconnect();
    expect(queue.waiting().count).toBe(1);
    queue.connect(other.slot);
    expect(other.given).toEqual(one.given);
  });

  it("gives a worker its room back when an item runs out of time", async () => {
    const queue = new WorkQueue();
    const { slot, given } = worker("1");
    queue.connect(slot);
    for (let count = 1; count <= 3; count += 1) {
      const stop = new AbortController();
      const asked = queue.request(item("a"), stop.signal);
      expect(given).toHaveLength(count);
      stop.abort();
      await expect(asked).rejects.toMatchObject({ code: "UNAVAILABLE" });
    }
  });

  it("holds what a worker has no room for, and gives it with the next answer", () => {
    const queue = new WorkQueue();
    const { slot, given } = worker("1", 2);
    queue.connect(slot);
    for (let count = 0; count < 3; count += 1) void queue.request(item("a"), never);
    expect([given.length, queue.waiting().count]).toEqual([2, 1]);
    queue.complete("t", "1", given[0]?.workId ?? "", answer);
    expect([given.length, queue.waiting().count]).toEqual([3, 0]);
  });

  it("knows which tools somebody of the tenant serves", () => {
    const queue = new WorkQueue();
    const { slot } = worker("1");
    expect(queue.serves("a", "t")).toBe(false);
    const disconnect = queue.connect(slot);
    expect([queue.serves("a", "t"), queue.serves("b", "t")]).toEqual([true, false]);
    expect(queue.serves("a", "another")).toBe(false);
    disconnect();
    expect(queue.serves("a", "t")).toBe(false);
  });
});
