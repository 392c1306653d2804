// Goal: what a tenant takes is counted once and given back, and never at another's cost.
import { describe, expect, it } from "vitest";
import { RateLimit } from "./rate.js";
import { Tenants } from "./tenants.js";

const limits = { requestsPerSecond: 0, sessionsMax: 1, openTransactionsMax: 1 };

describe("tenants", () => {
  it("hold what they may, each for itself", () => {
    const tenants = new Tenants(limits);
    const release = tenants.openStream("a");
    expect(() => tenants.openStream("a")).toThrow(/open streams/);
    tenants.openStream("b");
    release();
    release();
    tenants.openStream("a");
    expect(() => tenants.openStream("a")).toThrow();
  });

  it("count begins under way, and what really began", () => {
    const tenants = new Tenants(limits);
    const release = tenants.reserveTransaction("a");
    expect(() => tenants.reserveTransaction("a")).toThrow(/open transactions/);
    release();
    tenants.reserveTransaction("a")();
    tenants.began("a");
    expect(() => tenants.reserveTransaction("a")).toThrow();
    tenants.ended("a");
    tenants.ended("a");
    tenants.reserveTransaction("a")();
  });
});

describe("the rate", () => {
  it("gives a second's worth at once, then one by one", () => {
    const rate = new RateLimit(2, 0);
    expect([rate.take(0), rate.take(0), rate.take(0)]).toEqual([0, 0, 500]);
    expect(rate.take(250)).toBe(250);
    expect(rate.take(500)).toBe(0);
  });

  it("gives nothing for a clock that goes back", () => {
    const rate = new RateLimit(1, 1_000);
    expect(rate.take(1_000)).toBe(0);
    expect(rate.take(0)).toBe(1_000);
  });
});
