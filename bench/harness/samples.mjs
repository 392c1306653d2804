// Owns what samples become: percentiles of pooled samples, and ratios of medians.
//
//   I1 A ratio compares medians of one trial, which ran side by side in one process; of several
//      trials it is the median. Pooled samples are for the percentiles only.

/** Value at `share` of the sorted samples (nearest rank). */
export function percentile(samples, share) {
  if (samples.length === 0) throw new Error("There are no samples");
  const sorted = Float64Array.from(samples).sort();
  const rank = Math.max(Math.ceil(share * sorted.length), 1);
  return sorted[rank - 1];
}

export function median(samples) {
  return percentile(samples, 0.5);
}

/** @param {ArrayLike<number>} samples microseconds */
export function summary(samples) {
  return {
    samples: samples.length,
    min: round(percentile(samples, 0)),
    p50: round(percentile(samples, 0.5)),
    p95: round(percentile(samples, 0.95)),
    p99: round(percentile(samples, 0.99)),
    max: round(percentile(samples, 1)),
  };
}

/** Four significant digits are more than the noise leaves. */
export function round(value) {
  return Number(value.toPrecision(4));
}

/** Summaries by series name over all trials. */
export function pooled(trials) {
  const all = {};
  for (const trial of trials) {
    for (const [name, samples] of Object.entries(trial)) {
      all[name] ??= [];
      for (const sample of samples) all[name].push(sample);
    }
  }
  return Object.fromEntries(Object.entries(all).map(([name, list]) => [name, summary(list)]));
}

/** Median over trials of `median(one) / median(other)` (I1). */
export function ratio(trials, one, other) {
  return round(median(trials.map((trial) => median(trial[one]) / median(trial[other]))));
}

/**
 * The same of the fastest tenths: what is left when other work on the machine is not in the way.
 * It is shown beside the ratios, so that a reader sees how much of one is noise.
 */
export function quietRatio(trials, one, other) {
  const fast = (samples) => percentile(samples, 0.1);
  return round(median(trials.map((trial) => fast(trial[one]) / fast(trial[other]))));
}

/** Both for a table of `name: [one, other]`. */
export function ratiosOf(trials, table) {
  const entries = Object.entries(table);
  const all = (of) =>
    Object.fromEntries(entries.map(([name, [one, other]]) => [name, of(trials, one, other)]));
  return { ratios: all(ratio), quiet: all(quietRatio) };
}
