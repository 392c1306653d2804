// Owns `agenttx audit verify`: recomputes the hash chain of each transaction and of the store (C9). What
// the store's chain says has ended must have its chain, or a note of its erasure (C10).

import type { Store } from "@agenttx/model";
import { AgentTxError } from "@agenttx/model";
import { auditHash, auditStart } from "@agenttx/storage/memory";
import { EXIT } from "../exit-codes.js";
import { API_VERSION, printable } from "../output.js";
import type { CommandContext } from "../program.js";
import { openExistingStore } from "../session.js";
import { allChains, type ChainName, chainsOf, entriesOf } from "./audit-chains.js";

/** What became of one chain. */
export interface ChainReport {
  /** Transaction id, or null for the chain of the store. */
  readonly transaction: string | null;
  readonly namespace: string;
  readonly entries: number;
  /** Number of the first entry that does not fit, or null. */
  readonly brokenAt: number | null;
}

/** Exit code 1 when a chain is broken or gone, 3 when the transaction is not known. */
export async function auditVerify(context: CommandContext, id: string | null): Promise<number> {
  const store = await openExistingStore(context.dataDirectory);
  try {
    const told = new Ended();
    const chains: ChainReport[] = [];
    for await (const name of id === null ? allChains(store) : chainsOf(store, id)) {
      chains.push(await verifyChain(store, name, told));
    }
    if (chains.length === 0) {
      throw new AgentTxError("NOT_FOUND", `There is no audit chain of transaction ${id}.`, {
        details: { transaction: id },
      });
    }
    return report(context, chains, id === null ? told.missing(chains) : []);
  } finally {
    await store.close();
  }
}

/** What the store's chain says of transactions: ended, and erased by retention. */
class Ended {
  readonly #ended = new Set<string>();
  readonly #erased = new Set<string>();

  read(payload: Uint8Array): void {
    const entry = readEntry(payload);
    if (typeof entry.tx !== "string") return;
    if (entry.k === "commit" || entry.k === "abort") this.#ended.add(entry.tx);
    if (entry.k === "audit-erased") this.#erased.add(entry.tx);
  }

  /** Ended ones without a chain that nobody says to have erased. */
  missing(chains: readonly ChainReport[]): readonly string[] {
    const there = new Set(chains.flatMap((one) => (one.entries > 0 ? [one.transaction] : [])));
    return [...this.#ended].filter((tx) => !there.has(tx) && !this.#erased.has(tx));
  }
}

function readEntry(payload: Uint8Array): { readonly k?: unknown; readonly tx?: unknown } {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(payload).toString("utf8"));
    return typeof parsed === "object" && parsed !== null ? parsed : {};
  } catch {
    // Of another program: its hash is checked, there is nothing to read.
    return {};
  }
}

async function verifyChain(store: Store, name: ChainName, told: Ended): Promise<ChainReport> {
  const { transaction, namespace } = name;
  let previous = auditStart(transaction, namespace);
  let seq = 0;
  for await (const entry of entriesOf(store, name)) {
    seq += 1;
    const hash = auditHash(previous, seq, entry.payload);
    const fits = entry.seq === seq && Buffer.compare(hash, entry.hash) === 0;
    if (!fits) return { transaction, namespace, entries: seq, brokenAt: seq };
    previous = entry.hash;
    if (transaction === null) told.read(entry.payload);
  }
  return { transaction, namespace, entries: seq, brokenAt: null };
}

function report(
  { output }: CommandContext,
  chains: readonly ChainReport[],
  missing: readonly string[],
): number {
  const broken = chains.filter((chain) => chain.brokenAt !== null);
  const entries = chains.reduce((sum, chain) => sum + chain.entries, 0);
  const intact = broken.length + missing.length === 0;
  output.data({ apiVersion: API_VERSION, type: "audit", intact, chains, missing });
  for (const { transaction, namespace, brokenAt } of broken) {
    const of = namespace === "" ? "" : ` of ${printable(namespace)}`;
    const name = transaction === null ? "the store's chain" : `transaction ${transaction}${of}`;
    output.line(output.paint("red", `altered: ${name}, at entry ${brokenAt}`));
  }
  for (const transaction of missing) {
    output.line(output.paint("red", `gone: the chain of transaction ${printable(transaction)}`));
  }
  if (intact) {
    output.line(output.paint("green", `intact: ${chains.length} chains, ${entries} entries`));
  }
  return intact ? EXIT.OK : EXIT.FAILED;
}
