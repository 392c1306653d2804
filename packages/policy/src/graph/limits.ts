// Owns the caps of the dependency graph: no step, however large, costs more than these allow.

/**
 * Scalars of one output that are indexed, and of one input that are looked up; shallow first.
 * Of one object or array no more entries than this are looked at.
 */
export const SCALARS_PER_STEP_MAX = 1024;
/** Values, containers included, that are looked at in one input or output; shallow first. */
export const VALUES_VISITED_PER_STEP_MAX = 8192;
/** Edges into one step; those beyond are not recorded. */
export const EDGES_PER_STEP_MAX = 4096;
/** Longest key name that can link by value. */
export const NAME_CHARS_MAX = 128;
/** Longest path or hint key that is understood; a longer one matches nothing. */
export const PATH_CHARS_MAX = 1024;
/** Most segments of a path; a deeper one matches nothing. */
export const PATH_SEGMENTS_MAX = 64;
