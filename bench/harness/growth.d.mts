export const SAMPLES_MIN: number;
export function quarters<Sample>(series: readonly Sample[]): Sample[][];
export function growth(series: readonly number[]): number;
