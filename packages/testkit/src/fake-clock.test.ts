// Goal: time moves only when told, in order, and promises get their turn. Method: direct calls.

import { describe, expect, it } from "vitest";
import { fakeClock } from "./fake-clock.js";

describe("fakeClock", () => {
  it("stands still until it is advanced", async () => {
    const clock = fakeClock({ startMs: 1_000 });
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
    await clock.advance(250);
    expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250]);
  });

  it("runs timers in order of time, each at its own time, equal ones as they were made", async () => {
    const clock = fakeClock({ startMs: 0 });
    const seen: string[] = [];
    const note = (name: string) => () => seen.push(`${name}@${clock.monotonic()}`);
    clock.schedule(20, note("late"));
    clock.schedule(10, note("first"));
    clock.schedule(10, note("second"));
    clock.schedule(30, note("never"));
    await clock.advance(25);
    expect(seen).toEqual(["first@10", "second@10", "late@20"]);
    expect(clock.pending).toBe(1);
  });

  it("runs a timer that a timer made, when it is due within the advance", async () => {
    const clock = fakeClock();
    const seen: number[] = [];
    const tick = (): void => {
      seen.push(clock.monotonic());
      clock.schedule(10, tick);
    };
    clock.schedule(10, tick);
    await clock.advance(35);
    expect(seen).toEqual([10, 20, 30]);
  });

  it("lets a promise chain behind a timer schedule the next one", async () => {
    const clock = fakeClock();
    const wait = (ms: number): Promise<void> => new Promise((done) => clock.schedule(ms, done));
    let done = false;
    const chain = (async () => {
      await wait(10);
      await wait(10);
      done = true;
    })();
    await clock.advance(20);
    expect(done).toBe(true);
    await chain;
  });

  it("does not run a cancelled timer", async () => {
    const clock = fakeClock();
    let runs = 0;
    const cancel = clock.schedule(5, () => {
      runs += 1;
    });
    cancel();
    cancel();
    await clock.advance(10);
    expect([runs, clock.pending]).toEqual([0, 0]);
  });

  it("jumps its wall clock alone", async () => {
    const clock = fakeClock({ startMs: 1_000 });
    let runs = 0;
    clock.schedule(10, () => {
      runs += 1;
    });
    clock.jump(-500);
    expect([clock.now(), clock.monotonic(), runs]).toEqual([500, 0, 0]);
    clock.jump(100_000);
    await clock.advance(9);
    expect(runs).toBe(0);
  });

  it("goes from timer to timer", async () => {
    const clock = fakeClock();
    clock.schedule(1_000_000, () => undefined);
    expect(await clock.advanceToNext()).toBe(true);
    expect(clock.monotonic()).toBe(1_000_000);
    expect(await clock.advanceToNext()).toBe(false);
  });

  it("cannot be advanced backward", async () => {
    await expect(fakeClock().advance(-1)).rejects.toThrow(RangeError);
    await expect(fakeClock().advance(Number.NaN)).rejects.toThrow(RangeError);
  });
});
