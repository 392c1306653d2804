// Goal: deadlines follow the monotonic clock alone, and never stop what they answer for.
import { afterEach, describe, expect, it, vi } from "vitest";
import { Deadlines } from "./deadlines.js";

afterEach(() => vi.useRealTimers());

describe("deadlines", () => {
  it("are not moved by a wall clock that jumps, in either direction", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    for (const to of ["1970-01-01", "2100-01-01"]) {
      const deadlines = new Deadlines();
      const slow = new Promise<string>((resolve) => setTimeout(() => resolve("done"), 60));
      const answer = deadlines.within(10_000, slow);
      vi.setSystemTime(new Date(to));
      expect(await answer).toBe("done");
      const never = deadlines.within(30, new Promise(() => {}));
      await expect(never).rejects.toMatchObject({ code: "UNAVAILABLE" });
      deadlines.close();
    }
  });

  it("answer first, and let the work go on to its end", async () => {
    const deadlines = new Deadlines();
    let ended = false;
    let end = () => {};
    const work = new Promise<void>((resolve) => {
      end = resolve;
    }).then(() => {
      ended = true;
    });
    await expect(deadlines.within(20, work)).rejects.toMatchObject({
      details: { deadlineMs: 20 },
    });
    expect(ended).toBe(false);
    end();
    await work;
    expect(ended).toBe(true);
    deadlines.close();
  });

  it("of 0 never pass", async () => {
    const deadlines = new Deadlines();
    const work = Promise.resolve(1);
    expect(deadlines.within(0, work)).toBe(work);
  });

  it("hand on what the work throws", async () => {
    const deadlines = new Deadlines();
    await expect(deadlines.within(1_000, Promise.reject(new Error("own")))).rejects.toThrow("own");
    deadlines.close();
  });
});
