// Goal: the world counts what is done and undone. Method: direct calls.

import { describe, expect, it } from "vitest";
import { effectWorld } from "./effect-world.js";

describe("effectWorld", () => {
  it("does an effect once for one key", () => {
    const world = effectWorld();
    expect([world.do("k", { a: 1 }), world.do("k", { a: 2 })]).toEqual([true, false]);
    expect(world.count("k")).toEqual({ done: 1, undone: 0, repeated: 1 });
    expect(world.payload("k")).toEqual({ a: 1 });
  });

  it("shows a double effect when it knows no keys", () => {
    const world = effectWorld({ recognisesKeys: false });
    expect([world.do("k"), world.do("k")]).toEqual([true, true]);
    expect(world.count("k")).toEqual({ done: 2, undone: 0, repeated: 0 });
    world.undo("k");
    expect(world.standing()).toEqual(["k"]);
  });

  it("undoes once, and nothing that never happened", () => {
    const world = effectWorld();
    world.do("k");
    expect([world.undo("k"), world.undo("k"), world.undo("x")]).toEqual([
      "undone",
      "already-undone",
      "already-undone",
    ]);
    expect(world.count("k")).toEqual({ done: 1, undone: 1, repeated: 0 });
    expect(world.count("x")).toEqual({ done: 0, undone: 0, repeated: 0 });
  });

  it("does not do again what was done and undone under the same key", () => {
    const world = effectWorld();
    world.do("k");
    world.undo("k");
    expect(world.do("k")).toBe(false);
    expect(world.stands("k")).toBe(false);
  });

  it("lists what stands, and what happened in order", () => {
    const world = effectWorld();
    for (const key of ["a", "b", "c"]) world.do(key);
    world.undo("b");
    expect(world.standing()).toEqual(["a", "c"]);
    expect(world.history).toEqual(["do a", "do b", "do c", "undo b"]);
  });
});
