// Owns what a decision may ask about causes. `DependencyGraph` fits it; so may any other source.
import type { DependencyPathEdge } from "@agenttx/model";

/** A root and the edges that lead to it, the one into the failed step first. */
export interface RootCause {
  readonly root: number;
  readonly path: readonly DependencyPathEdge[];
}

/**
 * Where the value behind a key came from (G2). Pure: same graph and question, same answer.
 * An answer that is no whole number from 1 to `step - 1` counts as "not traced".
 */
export interface RootCauseLookup {
  /** The earliest step that produced the value, or null when nobody did. */
  findRootCause(step: number, key: string): number | null;
  /** The same with the path, for the reason of a decision (R10). */
  traceRootCause?(step: number, key: string): RootCause | null;
}
