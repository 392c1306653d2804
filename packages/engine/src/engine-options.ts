// Owns the settings of an engine, their defaults and their check.
import { AgentTxError, limits, type Store } from "@agenttx/model";
import { DEFAULT_POLICY, type PolicyOverrides, resolvePolicy } from "@agenttx/policy";
import type { EffectLimits } from "./effects/effect-limits.js";
import type { Clock, EngineObserver, IdSource, SecretSource } from "./ports.js";
import type { EngineSettings } from "./state.js";
import type { ToolShape } from "./tool-types.js";

export interface EngineOptions<Tools extends readonly ToolShape[] = readonly ToolShape[]> {
  /** The caller opens and closes it; it must outlive the engine. */
  readonly store: Store;
  readonly tools: Tools;
  /** Makes tools that are known by name alone, such as those of remote workers; null = unknown. */
  readonly resolveTool?: (name: string, namespace: string) => ToolShape | null;
  /** Defaults of every transaction (R8). */
  readonly policy?: PolicyOverrides;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  /** Where `${secrets.NAME}` comes from; without it such a reference fails. */
  readonly secrets?: SecretSource;
  readonly observer?: EngineObserver;
  /** Transactions nobody touched for this long are aborted; 0 = never. Default 15 minutes (P4). */
  readonly idleTimeoutMs?: number;
  /** Constraints kept per transaction. Default 32 (E10). */
  readonly constraintsMax?: number;
  /** Characters of raw context that `view` shows, the newest. Default 1 Mi. */
  readonly contextBytesMax?: number;
  /** Milliseconds that terminal records and request answers are kept. Default 7 days (C10). */
  readonly retention?: number;
  /**
   * Milliseconds from its end that a transaction's audit chain is kept; 0 = for ever. Erased at the
   * earliest when `retention` has removed everything else. Default 365 days (C10).
   */
  readonly auditRetention?: number;
  /** `recover` goes on with interrupted transactions instead of undoing them. Default false (C8). */
  readonly resumeOnStart?: boolean;
  /** What a rewind does when an undo stays unresolved (E8a). Default `freeze`. */
  readonly onUnresolved?: "freeze" | "continue";
  /** Storage and engine errors one transaction may survive before it is aborted (R9). Default 16. */
  readonly infrastructureFailuresMax?: number;
  /** Milliseconds that a commit waits for the first delivery pass. Default 5,000 (E7). */
  readonly deliveryBudgetMs?: number;
  /** Limits of compensation and delivery: tries, deadlines, backoff. */
  readonly effects?: Partial<EffectLimits>;
}

const MINUTE_MS = 60_000;

/** Throws INVALID_ARGUMENT for a setting out of range. */
export function readSettings(options: EngineOptions): EngineSettings {
  return {
    policy: readPolicy(options.policy),
    idleTimeoutMs: whole("idleTimeoutMs", options.idleTimeoutMs, 15 * MINUTE_MS),
    constraintsMax: whole("constraintsMax", options.constraintsMax, limits.CONSTRAINTS_MAX_DEFAULT),
    contextBytesMax: whole(
      "contextBytesMax",
      options.contextBytesMax,
      limits.RAW_CONTEXT_BYTES_MAX,
    ),
    retentionMs: whole("retention", options.retention, 7 * 24 * 60 * MINUTE_MS),
    auditRetentionMs: whole("auditRetention", options.auditRetention, 365 * 24 * 60 * MINUTE_MS),
    resumeOnRecover: options.resumeOnStart ?? false,
    onUnresolved: options.onUnresolved ?? "freeze",
    infrastructureFailuresMax: whole(
      "infrastructureFailuresMax",
      options.infrastructureFailuresMax,
      16,
    ),
    deliveryBudgetMs: whole("deliveryBudgetMs", options.deliveryBudgetMs, 5_000),
  };
}

function readPolicy(overrides: PolicyOverrides | undefined) {
  try {
    return resolvePolicy(DEFAULT_POLICY, overrides);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "The policy is out of range.";
    throw new AgentTxError("INVALID_ARGUMENT", why, { details: { field: "policy" }, cause });
  }
}

function whole(field: string, value: number | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new AgentTxError("INVALID_ARGUMENT", `${field} is a whole number from 0.`, {
    details: { field },
  });
}
