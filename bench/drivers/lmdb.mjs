// Owns LMDB as a peer: one environment of binary keys and values, no sync.
import { join } from "node:path";
import { ABORT, open } from "lmdb";

export const DURABILITY = "noSync; an open transaction is lost with the process";

export function openLmdb(directory) {
  const database = open({
    path: join(directory, "peer.lmdb"),
    keyEncoding: "binary",
    encoding: "binary",
    noSync: true,
    noMetaSync: true,
    overlappingSync: false,
  });
  return {
    put: (key, value) => database.putSync(key, value),
    get: (key) => database.get(key) ?? null,
    /** Writes and takes them back: `abort` is called with the clock at the last write. */
    writeAndAbort: (write, aborting) =>
      database.transactionSync(() => {
        write((key, value) => database.putSync(key, value));
        aborting();
        return ABORT;
      }),
    putAll: (entries) =>
      database.transactionSync(() => {
        for (const [key, value] of entries) database.putSync(key, value);
      }),
    close: () => database.close(),
  };
}
