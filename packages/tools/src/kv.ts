// Owns kv.put, kv.get and kv.delete: JSON values in the transaction's own state. The undo journal
// takes them back, so they need no compensation (E1a).

import { z } from "zod";
import { decodeJson, encodeJson } from "./json-bytes.js";
import { jsonValue } from "./json-value.js";
import { tool } from "./tool.js";

export interface KvOptions {
  /**
   * Stands before every key in the store, so that an agent cannot reach what other tools keep
   * there. Default `k/`.
   */
  readonly prefix?: string;
}

/**
 * `kv.put { key, value }` -> `{ key }`, `kv.get { key }` -> `{ key, found, value }`,
 * `kv.delete { key }` -> `{ key }`. A key that is not there reads as `found: false`, and deleting
 * it is no error.
 */
export function kvTools(options: KvOptions = {}) {
  const prefix = options.prefix ?? "k/";
  const key = z.string().min(1).describe("Name of the value");
  const put = tool({
    name: "kv.put",
    description: "Stores a JSON value under a key",
    version: "1",
    schema: z.strictObject({ key, value: jsonValue }),
    effect: "reversible",
    scope: "store",
    execute: (args, { state }) => {
      state.put(prefix + args.key, encodeJson(args.value));
      return { key: args.key };
    },
  });
  const get = tool({
    name: "kv.get",
    description: "Reads the JSON value under a key",
    version: "1",
    schema: z.strictObject({ key }),
    effect: "read-only",
    scope: "store",
    execute: async (args, { state }) => {
      const bytes = await state.get(prefix + args.key);
      const found = bytes !== null;
      return { key: args.key, found, value: found ? decodeJson(bytes) : null };
    },
  });
  const remove = tool({
    name: "kv.delete",
    description: "Removes a key",
    version: "1",
    schema: z.strictObject({ key }),
    effect: "reversible",
    scope: "store",
    execute: (args, { state }) => {
      state.delete(prefix + args.key);
      return { key: args.key };
    },
  });
  return [put, get, remove] as const;
}
