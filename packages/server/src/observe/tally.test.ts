// Goal: counts belong to their labels, however many words these have. Method: plain adds.
import { describe, expect, it } from "vitest";
import { Tally } from "./tally.js";

describe("a tally", () => {
  it("counts each set of labels apart", () => {
    const tally = new Tally(["face", "method", "code"]);
    tally.add("grpc", "step", "OK");
    tally.add("grpc", "step", "OK");
    tally.add("grpc", "step", "NOT_FOUND");
    tally.add("http", "step", "OK");
    expect([...tally.entries()]).toEqual([
      { labels: { face: "grpc", method: "step", code: "OK" }, count: 2 },
      { labels: { face: "grpc", method: "step", code: "NOT_FOUND" }, count: 1 },
      { labels: { face: "http", method: "step", code: "OK" }, count: 1 },
    ]);
  });

  it("takes words that name properties of objects", () => {
    const tally = new Tally(["tool", "status"]);
    tally.add("__proto__", "constructor");
    expect([...tally.entries()]).toMatchObject([{ count: 1 }]);
  });
});
