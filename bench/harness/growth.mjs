// Owns how a series of samples becomes growth: how the last quarter compares with the second one. The
// first is left out: caches, buffers and code have not got their size in it.
import { median, round } from "./samples.mjs";

/** Fewer have no quarters worth comparing. */
export const SAMPLES_MIN = 8;

/** The four quarters of a series, in order; what does not divide goes to the earlier ones. */
export function quarters(series) {
  if (series.length < SAMPLES_MIN) {
    throw new Error(`Growth needs ${SAMPLES_MIN} samples, there are ${series.length}`);
  }
  const cut = (part) => Math.ceil((series.length * part) / 4);
  return [0, 1, 2, 3].map((part) => series.slice(cut(part), cut(part + 1)));
}

/** Median of the last quarter by the median of the second: 1 is no growth. */
export function growth(series) {
  const [, second, , last] = quarters(series);
  return round(median(last) / median(second));
}
