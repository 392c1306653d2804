// Owns the clock of the bench and the order in which drivers take turns.

/** Microseconds that `work` takes. A promise is waited for only if there is one. */
export async function timed(work) {
  const started = performance.now();
  const answer = work();
  if (answer instanceof Promise) await answer;
  return (performance.now() - started) * 1_000;
}

/**
 * Rounds in which every driver has one turn; who begins changes with each round. A turn returns
 * its microseconds, one number or many. The first `warmUp` rounds are not kept.
 * @param {Readonly<Record<string, (round: number) => Promise<number | readonly number[]>>>} turns
 */
export async function interleave(turns, { rounds, warmUp }) {
  const names = Object.keys(turns);
  const samples = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < warmUp + rounds; round += 1) {
    for (let index = 0; index < names.length; index += 1) {
      const name = names[(index + round) % names.length];
      const took = await turns[name](round);
      if (round < warmUp) continue;
      if (typeof took === "number") samples[name].push(took);
      else samples[name].push(...took);
    }
  }
  return samples;
}
