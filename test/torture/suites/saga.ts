// Owns the suite of sagas (P5): the whole matrix of test/saga, then sagas that meet several troubles
// at once for as long as asked.
import { drawCase, matrix, nameOf, runCase, type SagaCase } from "../../saga/matrix.js";
import { randomOf, type Suite, seedOf, weaknesses } from "../suite.js";

const CASES_PER_ROUND = 200;

export const saga: Suite = {
  name: "saga",
  about:
    "sagas undone while undos crash, fail, hang and are asked twice: all, then drawn ones (P5)",
  async run({ seed, seconds, cursor, tell }) {
    const ends = Date.now() + seconds * 1_000;
    const violations: string[] = [];
    const figures = { matrix: 0, drawn: 0, effects: 0, undone: 0, crashes: 0 };
    const runOne = async (one: SagaCase) => {
      try {
        const { effects, undone, crashes } = await runCase(one);
        figures.effects += effects;
        figures.undone += undone;
        figures.crashes += crashes;
      } catch (error) {
        violations.push(`${nameOf(one)}: ${error instanceof Error ? error.message : error}`);
      }
    };
    // A run that goes on has been through the matrix.
    if (cursor === null) {
      for (const one of matrix()) {
        await runOne(one);
        figures.matrix += 1;
      }
      tell(`${figures.matrix} cases of the matrix, ${violations.length} violations`);
    }
    let round = Number(cursor ?? 0);
    for (; Date.now() < ends || figures.drawn === 0; round += 1) {
      const random = randomOf(seedOf(seed, round));
      for (let count = 0; count < CASES_PER_ROUND; count += 1) await runOne(drawCase(random));
      figures.drawn += CASES_PER_ROUND;
    }
    return {
      cycles: figures.matrix + figures.drawn,
      violations: violations.slice(0, 100),
      figures,
      weak: weaknesses({
        "the matrix has more than 2,000 cases": cursor !== null || figures.matrix > 2_000,
        "processes died": figures.crashes > 0,
      }),
      cursor: String(round),
    };
  },
};
