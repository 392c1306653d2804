// Owns what tests hand to tools: a state over a store's transaction, a context that records what is
// registered, and the call of a tool through its own schema.

import type { JsonValue, ToolContext, ToolState, UndoContext } from "@agenttx/model";
import type { StoreTransaction } from "@agenttx/storage";

/** A state whose writes are kept until `flush`, as in a step's batch. */
export interface BufferedState extends ToolState {
  flush(): Promise<void>;
}

export function bufferedState(tx: StoreTransaction): BufferedState {
  const writes = new Map<string, Uint8Array | null>();
  const textOf = (key: string | Uint8Array): string => {
    if (typeof key !== "string") throw new TypeError("the built-in tools use text keys");
    return key;
  };
  return {
    get: async (key, options) => {
      const own = writes.get(textOf(key));
      return own === undefined ? tx.get(key, options) : own;
    },
    put: (key, value) => void writes.set(textOf(key), value),
    delete: (key) => void writes.set(textOf(key), null),
    scan: (range) => tx.scan(range),
    flush: async () => {
      await tx.write(Array.from(writes, ([key, value]) => ({ key, value })));
      writes.clear();
    },
  };
}

const NO_STATE: ToolState = {
  get: async () => null,
  put: () => undefined,
  delete: () => undefined,
  scan: async () => [],
};

export interface Registered {
  readonly action: string;
  readonly args: JsonValue;
}

export interface RecordingContext extends ToolContext {
  readonly registered: Registered[];
}

export function toolContext(
  options: {
    readonly state?: ToolState;
    readonly key?: string;
    readonly signal?: AbortSignal;
    readonly onRegister?: () => Promise<void>;
  } = {},
): RecordingContext {
  const registered: Registered[] = [];
  return {
    transaction: "t",
    namespace: "",
    step: 1,
    attempt: 1,
    idempotencyKey: options.key ?? "key-1",
    signal: options.signal ?? new AbortController().signal,
    state: options.state ?? NO_STATE,
    registered,
    registerUndo: async (action, args) => {
      await options.onRegister?.();
      // Through JSON, as the store keeps it.
      registered.push({ action, args: JSON.parse(JSON.stringify(args)) });
    },
  };
}

export function undoContext(key = "key-1"): UndoContext {
  return {
    transaction: "t",
    namespace: "",
    step: 1,
    effectId: "e",
    idempotencyKey: key,
    undoKey: `undo-${key}`,
    signal: new AbortController().signal,
  };
}

/** The part of a tool definition that a call needs, whatever its types. */
interface Callable {
  readonly schema: { readonly "~standard": { readonly validate: (value: unknown) => unknown } };
  execute(args: never, context: ToolContext): unknown;
}

/** Validates as the engine does, then executes. Throws the schema's first message. */
export async function call(
  tool: Callable,
  args: unknown,
  context: ToolContext,
): Promise<JsonValue> {
  const checked = (await tool.schema["~standard"].validate(args)) as {
    readonly value: never;
    readonly issues?: readonly { readonly message: string; readonly path?: readonly unknown[] }[];
  };
  const [issue] = checked.issues ?? [];
  if (issue !== undefined) throw new Error(`${issue.path?.join(".") ?? ""}: ${issue.message}`);
  return (await tool.execute(checked.value, context)) as JsonValue;
}
