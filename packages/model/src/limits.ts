// Owns the caps that callers can hit. Each is checked before anything is written (S11).

/** Largest key in bytes; the empty key is refused. */
export const KEY_BYTES_MAX = 4096;
/** Largest value in bytes (64 MiB). */
export const VALUE_BYTES_MAX = 64 * 1024 * 1024;
/** Default cap of the bytes one transaction may write (1 GiB); configurable. */
export const TRANSACTION_BYTES_MAX_DEFAULT = 1024 * 1024 * 1024;
/** Default cap of the distinct keys one transaction may write; configurable. */
export const TRANSACTION_KEYS_MAX_DEFAULT = 1_000_000;
/** Steps of one transaction: bounds what one rollback reads. */
export const STEPS_PER_TRANSACTION_MAX = 10_000;
/** Longest transaction id, and longest namespace, in bytes: one length byte in every key. */
export const TRANSACTION_ID_BYTES_MAX = 255;
/** Longest agent id in bytes. */
export const AGENT_ID_BYTES_MAX = 256;
/** Most metadata entries of one transaction. */
export const METADATA_ENTRIES_MAX = 64;
/** Names and values of one transaction's metadata together, in bytes (64 KiB). */
export const METADATA_BYTES_MAX = 64 * 1024;
/** Longest tool name in bytes; it has at least one. */
export const TOOL_NAME_BYTES_MAX = 128;
/** Longest arguments of one step as JSON text, in bytes (1 MiB). */
export const ARGUMENTS_BYTES_MAX = 1024 * 1024;
/** Arguments of one step with their references filled in, in bytes (16 MiB). */
export const RESOLVED_ARGUMENTS_BYTES_MAX = 16 * 1024 * 1024;
/** Longest raw context of one step, in bytes (1 MiB). */
export const RAW_CONTEXT_BYTES_MAX = 1024 * 1024;
/** Deepest nesting of JSON that is read or stored. */
export const JSON_DEPTH_MAX = 64;
/** Most entries of one scan of state, records or audit. */
export const SCAN_ENTRIES_MAX = 100_000;
/** Entries of a scan whose caller names no limit. */
export const SCAN_ENTRIES_DEFAULT = 1_000;
/** A scan stops after the entry that brings keys and values to this many bytes (16 MiB). */
export const SCAN_BYTES_MAX = 16 * 1024 * 1024;
/** Longest request id in bytes. */
export const REQUEST_ID_BYTES_MAX = 128;
/** Constraints kept per transaction by default; the oldest leave first (E10). */
export const CONSTRAINTS_MAX_DEFAULT = 32;
/** Longest hint text in characters (H1). */
export const HINT_TEXT_MAX = 240;
/** Longest key in a hint, in characters (H6). */
export const HINT_KEY_MAX = 128;
