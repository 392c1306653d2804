// Goal: whatever happens while a saga is undone, each effect is undone exactly once and in reverse
// order (E8). Method: full enumeration of sagas that fail after 1..8 steps x every step to rewind to x
// how the last step fails x what happens to each undo, and sagas that meet several troubles at once.
// `pnpm torture saga` goes on with more of those.

import { describe, expect, it } from "vitest";
import { randomOf } from "../torture/suite.js";
import { drawCase, matrix, nameOf, runCase, STEPS_MAX } from "./matrix.js";

const DRAWN = 300;
const SEED = 20_260;
const cases = [...matrix()];

describe.each(Array.from({ length: STEPS_MAX }, (_, index) => index + 1))(
  "a saga that fails after %i steps",
  (failed) => {
    it.each(cases.filter((one) => one.failed === failed).map((one) => [nameOf(one), one] as const))(
      "is undone: %s",
      async (_name, one) => {
        await runCase(one);
      },
    );
  },
);

describe("sagas that meet several troubles", () => {
  it(`are undone, ${DRAWN} of them, seed ${SEED}`, async () => {
    const random = randomOf(SEED);
    for (let count = 0; count < DRAWN; count += 1) {
      const one = drawCase(random);
      await runCase(one).catch((error: unknown) => {
        throw new Error(nameOf(one), { cause: error });
      });
    }
  });
});

describe("the matrix", () => {
  it("has more than 2,000 cases", () => {
    expect(cases.length).toBeGreaterThan(2_000);
  });
});
