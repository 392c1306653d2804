// Owns a worker: it takes the work of tools that live in this process (compensation, undo, lookup,
// verification, delivery) and answers it.
//
//   K1 A stream that breaks is opened again; the server gives unanswered items back out.
//   K2 Whatever a tool does ends as an answer: an error is one too, and the server retries by its
//      rules. Each function must tolerate being called again (E8).

import type { JsonValue, ToolContext, UndoContext } from "@agenttx/model";
import { agentTxService, type work } from "@agenttx/wire";
import type { Client, ClientReadableStream, ServiceError } from "@grpc/grpc-js";
import { uuidv7 } from "uuidv7";
import { callError, mayRepeat } from "./call-error.js";
import type { ResolvedOptions } from "./options.js";
import { reconnectDelay } from "./reconnect-delay.js";
import { StateWrites } from "./state-writes.js";
import { errorText, type LocalTool, outputText, readArguments } from "./tool-calls.js";
import type { UnaryCaller } from "./unary-transport.js";

export interface ServeOptions {
  /** Their names are what this worker takes work for. */
  readonly tools: readonly LocalTool[];
  /** Default: a fresh one. Two workers with one id take each other's answers. */
  readonly workerId?: string;
  /** Items at a time; default 8, at most 64. */
  readonly inFlightMax?: number;
}

export interface Worker extends AsyncDisposable {
  /** Resolves with the first connection; rejects like `ended`. */
  readonly connected: Promise<void>;
  /** Resolves after `close`; rejects when the server refuses this worker. */
  readonly ended: Promise<void>;
  /** Stops taking work and waits for what is being answered. Idempotent. */
  close(): Promise<void>;
}

interface Answer {
  readonly status: string;
  readonly outputJson?: string;
  readonly message?: string;
}

export class WorkLoop implements Worker {
  readonly connected: Promise<void>;
  readonly ended: Promise<void>;
  readonly #client: Client;
  readonly #caller: UnaryCaller;
  readonly #options: ResolvedOptions;
  readonly #tools: ReadonlyMap<string, LocalTool>;
  readonly #request: work.PullWorkRequest;
  readonly #answering = new Set<Promise<void>>();
  #stream: ClientReadableStream<work.PullWorkResponse> | null = null;
  #again: NodeJS.Timeout | null = null;
  #failures = 0;
  #closed = false;
  #onConnected = () => {};
  #onEnded = () => {};
  #onRefused: (error: unknown) => void = () => {};

  constructor(
    parts: { readonly client: Client; readonly caller: UnaryCaller },
    options: ResolvedOptions,
    serve: ServeOptions,
  ) {
    this.#client = parts.client;
    this.#caller = parts.caller;
    this.#options = options;
    this.#tools = new Map(serve.tools.map((tool) => [tool.name, tool]));
    this.#request = {
      toolNames: [...this.#tools.keys()],
      inFlightMax: serve.inFlightMax ?? 0,
      workerId: serve.workerId ?? uuidv7(),
    };
    this.ended = new Promise((resolve, reject) => {
      this.#onEnded = resolve;
      this.#onRefused = reject;
    });
    const first = new Promise<void>((resolve) => {
      this.#onConnected = resolve;
    });
    this.connected = Promise.race([first, this.ended]);
    // Whoever waits for them sees the refusal; nobody has to.
    this.ended.catch(() => {});
    this.connected.catch(() => {});
    this.#connect();
  }

  async close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      if (this.#again !== null) clearTimeout(this.#again);
      // Unanswered items must stay ours until they are answered.
      await Promise.all(this.#answering);
      this.#stream?.cancel();
      this.#onEnded();
    }
    await this.ended.catch(() => {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #connect(): void {
    const { path, requestSerialize, responseDeserialize } = agentTxService.pullWork;
    const stream = this.#client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      this.#request,
      this.#options.metadata("wait"),
    );
    this.#stream = stream;
    stream.on("metadata", () => {
      this.#failures = 0;
      this.#onConnected();
    });
    stream.on("data", (item: work.PullWorkResponse) => this.#take(item));
    stream.on("error", (error: ServiceError) => this.#broken(stream, error));
    stream.on("end", () => this.#broken(stream, null));
  }

  #broken(stream: ClientReadableStream<work.PullWorkResponse>, error: ServiceError | null): void {
    if (stream !== this.#stream || this.#closed) return;
    this.#stream = null;
    if (error !== null && !mayRepeat(error)) {
      this.#closed = true;
      this.#onRefused(callError(error, this.#options.address));
      return;
    }
    this.#again = setTimeout(
      () => this.#connect(),
      reconnectDelay(this.#failures++, Math.random()),
    );
  }

  #take(item: work.PullWorkResponse): void {
    if (this.#closed) return;
    const answering = this.#answer(item).finally(() => this.#answering.delete(answering));
    this.#answering.add(answering);
  }

  async #answer(item: work.PullWorkResponse): Promise<void> {
    const answer = await this.#run(item);
    const { workId } = item;
    const { workerId } = this.#request;
    const { status, outputJson = "", message = "" } = answer;
    try {
      const request = { workId, workerId, status, outputJson, message };
      await this.#caller.call(agentTxService.completeWork, request);
    } catch {
      // The server gives the item out again; a tool tolerates being asked twice.
    }
  }

  async #run(item: work.PullWorkResponse): Promise<Answer> {
    const tool = this.#tools.get(item.toolName);
    if (tool === undefined) return { status: "error", message: "this worker has no such tool" };
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(new Error("out of time")), item.deadlineMs);
    try {
      return await answerWork(tool, item, stop.signal);
    } catch (error) {
      return { status: "error", message: errorText(error) };
    } finally {
      clearTimeout(timer);
    }
  }
}

async function answerWork(
  tool: LocalTool,
  item: work.PullWorkResponse,
  signal: AbortSignal,
): Promise<Answer> {
  const context = undoContext(item, signal) as never;
  const recorded = JSON.parse(item.argumentsJson) as JsonValue;
  const output = (item.outputJson === "" ? null : JSON.parse(item.outputJson)) as never;
  switch (item.kind) {
    case "undo": {
      const actions = tool.undo ?? {};
      const action = Object.hasOwn(actions, item.action) ? actions[item.action] : undefined;
      if (action === undefined) throw new Error(`the tool has no undo action ${item.action}`);
      return undoAnswer(await action(recorded, context));
    }
    case "compensate": {
      if (tool.compensate === undefined) return { status: "undone" };
      const args = await readArguments(tool, recorded);
      return undoAnswer(await tool.compensate({ args, output }, context));
    }
    case "lookup": {
      if (tool.lookup === undefined) return { status: "unknown" };
      const args = await readArguments(tool, recorded);
      const { idempotencyKey } = item;
      return lookupAnswer(await tool.lookup({ args, idempotencyKey } as never, context));
    }
    case "verify": {
      if (tool.verify === undefined) return { status: "gone" };
      const args = await readArguments(tool, recorded);
      const gone = (await tool.verify({ args, output }, context)) === true;
      return { status: gone ? "gone" : "still-there" };
    }
    case "deliver": {
      const args = await readArguments(tool, recorded);
      const sent = await tool.execute(args, deliveryContext(item, signal) as never);
      return { status: "delivered", outputJson: outputText(sent) };
    }
    default:
      throw new Error(`this worker does not know work of kind ${item.kind}`);
  }
}

/** An undo that returns nothing is confirmed by not throwing. */
function undoAnswer(result: unknown): Answer {
  if (result === undefined || result === null) return { status: "undone" };
  const { status = "error", found = "", expected = "" } = result as Record<string, string>;
  if (status !== "dirty") return { status };
  return { status, message: `expected ${expected}; found ${found}` };
}

function lookupAnswer(result: unknown): Answer {
  const { status, output, final } = result as {
    readonly status: string;
    readonly output?: unknown;
    readonly final?: boolean;
  };
  if (status === "landed") {
    return output === undefined ? { status } : { status, outputJson: outputText(output) };
  }
  return { status: status === "absent" && final === true ? "absent-final" : status };
}

function undoContext(item: work.PullWorkResponse, signal: AbortSignal): UndoContext {
  const { transactionId, stepId, effectId, idempotencyKey, undoKey } = item;
  return {
    transaction: transactionId,
    namespace: "",
    step: stepId,
    effectId,
    idempotencyKey,
    undoKey,
    signal,
  };
}

/** After the commit there is no state to write and nothing to undo. */
function deliveryContext(item: work.PullWorkResponse, signal: AbortSignal): ToolContext {
  const state = new StateWrites();
  state.seal();
  return {
    transaction: item.transactionId,
    namespace: "",
    step: item.stepId,
    attempt: 1,
    idempotencyKey: item.idempotencyKey,
    signal,
    state,
    registerUndo: async () => {
      throw new TypeError("A delivery after the commit cannot be undone");
    },
  };
}
