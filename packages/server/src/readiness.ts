// Owns what /readyz and the running server say about being ready. On its own, so that the public
// types of the server do not pull in those of the HTTP library.

export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly recovery: Readonly<Record<string, number | boolean>>;
}
