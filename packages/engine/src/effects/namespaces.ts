// Owns the register of namespaces that hold transactions: a store lists records of one namespace at a
// time, and after a restart the background must find all of them. The register is in the default
// namespace, space `meta`, name `namespace/{name}`; it is durable before the first effect.

import type { Store } from "@agenttx/model";
import { pageRecords } from "../record-pages.js";

const PREFIX = "namespace/";

export class NamespaceRegister {
  readonly #store: Store;
  readonly #known = new Set<string>([""]);

  constructor(store: Store) {
    this.#store = store;
  }

  /** Durable before it resolves. Costs nothing from the second call on. */
  async ensure(namespace: string): Promise<void> {
    if (this.#known.has(namespace)) return;
    const name = `${PREFIX}${namespace}`;
    await this.#store.writeRecords("", {
      records: [{ space: "meta", name, value: new Uint8Array([1]) }],
    });
    this.#known.add(namespace);
  }

  list(): Promise<readonly string[]> {
    return listNamespaces(this.#store);
  }
}

/** Every namespace in which a transaction ever began, the default one first. */
export async function listNamespaces(store: Store): Promise<readonly string[]> {
  const found = [""];
  for await (const entry of pageRecords(store, "meta", { afterName: PREFIX })) {
    if (!entry.name.startsWith(PREFIX)) break;
    found.push(entry.name.slice(PREFIX.length));
  }
  return found;
}
