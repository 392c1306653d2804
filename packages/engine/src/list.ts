// Owns lists of transactions, open and ended, in the order of their ids (which is by age).
import { AgentTxError, type TransactionStatus, type TransactionView } from "@agenttx/model";
import { pageRecords } from "./record-pages.js";
import { type EngineState, transactionKey } from "./state.js";
import { decodeTerminal, terminalView } from "./terminal.js";
import { openView, storedView } from "./view.js";

export interface ListTransactions {
  readonly status?: TransactionStatus;
  /** Id of the last one of the page before. */
  readonly after?: string;
  /** 1..1,000, default 100. */
  readonly limit?: number;
  readonly namespace?: string;
}

interface Listed {
  readonly id: string;
  readonly view: () => Promise<TransactionView> | TransactionView;
}

const PAGE = 200;

export async function listTransactions(
  engine: EngineState,
  options: ListTransactions,
): Promise<readonly TransactionView[]> {
  const { status, namespace = "" } = options;
  const limit = Math.min(Math.max(options.limit ?? 100, 1), 1_000);
  if (options.after !== undefined && typeof options.after !== "string") {
    throw new AgentTxError("INVALID_ARGUMENT", "A page follows the id of a transaction.", {
      details: { field: "after" },
    });
  }
  const found: TransactionView[] = [];
  const open = new Cursor(openOnes(engine, namespace, options.after));
  const ended = new Cursor(endedOnes(engine, namespace, options.after));
  while (found.length < limit) {
    const [one, other] = [await open.peek(), await ended.peek()];
    if (one === null && other === null) break;
    const first = other === null || (one !== null && one.id < other.id) ? open : ended;
    const view = await (await first.take())?.view();
    if (view !== undefined && (status === undefined || view.status === status)) found.push(view);
  }
  return found;
}

/** One step of look-ahead over a generator. */
class Cursor {
  readonly #source: AsyncGenerator<Listed>;
  #next: Listed | null | undefined;

  constructor(source: AsyncGenerator<Listed>) {
    this.#source = source;
  }

  async peek(): Promise<Listed | null> {
    if (this.#next === undefined) {
      const { value, done } = await this.#source.next();
      this.#next = done === true ? null : value;
    }
    return this.#next;
  }

  async take(): Promise<Listed | null> {
    const next = await this.peek();
    this.#next = undefined;
    return next;
  }
}

async function* openOnes(
  engine: EngineState,
  namespace: string,
  after: string | undefined,
): AsyncGenerator<Listed> {
  // "!" sorts before every id: the page then begins with the first of the namespace.
  let position = after ?? "!";
  for (;;) {
    const page = await engine.store.openTransactions({
      after: { id: position, namespace },
      limit: PAGE,
    });
    for (const stored of page) {
      if (stored.namespace !== namespace) return;
      const known = engine.open.get(transactionKey(stored.id, namespace));
      const view = async () => (known === undefined ? storedView(stored) : openView(await known));
      yield { id: stored.id, view };
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    position = last.id;
  }
}

async function* endedOnes(
  engine: EngineState,
  namespace: string,
  after: string | undefined,
): AsyncGenerator<Listed> {
  const position = { transaction: after ?? "!", step: 0, seq: 0, name: "", value: NOTHING };
  const range = { namespace, after: position, pageSize: PAGE };
  for await (const { transaction: id, value } of pageRecords(engine.store, "terminal", range)) {
    const record = decodeTerminal(value);
    yield { id, view: () => terminalView(id, record, []) };
  }
}

const NOTHING = new Uint8Array();
