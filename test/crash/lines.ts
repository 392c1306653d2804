// Owns the words that victims say to the driver, one JSON line each.

interface Of<Kind extends string> {
  readonly k: Kind;
}
interface OfTransaction<Kind extends string> extends Of<Kind> {
  readonly tx: string;
}

export interface StepTry extends OfTransaction<"step-try"> {
  readonly rid: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface StepAnswer extends OfTransaction<"step"> {
  readonly rid: string;
  readonly status: "SUCCESS" | "ROLLBACK_TRIGGERED" | "FAILED";
  readonly step: number;
  readonly nextStep: number;
  readonly output: unknown;
  readonly transactionStatus: "FROZEN" | "FAILED" | null;
}

export type Line =
  | Of<"opened">
  | Of<"working">
  /** The plan is done. */
  | Of<"rested">
  | (Of<"dies"> & { readonly point: string })
  | Of<"closed">
  | (Of<"probed"> & { readonly code: string | null })
  | (Of<"recovered"> & { readonly found: number; readonly problems: readonly unknown[] })
  | (Of<"problem"> & { readonly where: string; readonly message: string })
  | (Of<"facts"> & { readonly facts: Facts })
  | (Of<"begin-try"> & { readonly rid: string })
  | (OfTransaction<"begin"> & { readonly rid: string })
  | (OfTransaction<"resumed"> & { readonly status: string; readonly nextStep: number })
  | StepTry
  | StepAnswer
  | (OfTransaction<"rollback-try"> & { readonly toStep: number })
  | (OfTransaction<"rollback"> & { readonly rolledBack: boolean; readonly nextStep: number })
  | OfTransaction<"commit-try">
  | (OfTransaction<"commit"> & { readonly version: string })
  | OfTransaction<"conflict">
  | OfTransaction<"abort-try">
  | (OfTransaction<"abort"> & { readonly status: string });

interface Chain {
  readonly entries: number;
  readonly whole: boolean;
}

/** Everything that a store holds, as an inspection tells it. */
export interface Facts {
  readonly problems: readonly unknown[];
  readonly transactions: readonly {
    readonly id: string;
    readonly status: string;
    readonly nextStep: number;
    /** Of a committed one; "0" when the process died before it could be kept. */
    readonly version: string | null;
    readonly chain: Chain;
  }[];
  readonly state: readonly {
    readonly key: string;
    readonly value: string;
    readonly version: string;
  }[];
  readonly records: readonly {
    readonly space: string;
    readonly transaction: string;
    readonly step: number;
    readonly seq: number;
    readonly name: string;
    readonly digest: string;
  }[];
  readonly effects: readonly {
    readonly effectId: string;
    readonly transaction: string;
    readonly tool: string;
    readonly state: string;
    readonly idempotencyKey: string;
    readonly step: number;
  }[];
  readonly unresolved: readonly string[];
  readonly open: readonly string[];
  readonly storeChain: Chain;
  readonly answers?: readonly { readonly rid: string; readonly answer: Answer }[];
}

export type Answer =
  | { readonly kind: "begun"; readonly tx: string }
  | {
      readonly kind: "answered";
      readonly status: string;
      readonly step: number;
      readonly nextStep: number;
      readonly output: unknown;
      readonly repeated: boolean;
    }
  | { readonly kind: "refused"; readonly code: string };
