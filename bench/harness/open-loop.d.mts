export type Call = () => Promise<unknown>;
export function closedLoop(callers: readonly Call[], seconds: number): Promise<number>;
export function openLoop(
  callers: readonly Call[],
  load: { readonly rate: number; readonly seconds: number },
): Promise<{ readonly latencies: Float64Array; readonly seconds: number }>;
