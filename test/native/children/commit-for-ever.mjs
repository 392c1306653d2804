// Commits from several transactions at once until it is killed. Says `<lane>/<number>` after each
// acknowledged commit. argv: path, syncWrites, prefix of the names.
import { openStore } from "@agenttx/storage";
import { say } from "./say.mjs";

const [, , path, sync, prefix] = process.argv;
const store = await openStore({ path, syncWrites: sync === "true" });
const value = new Uint8Array(100).fill(3);

async function lane(name) {
  for (let number = 1; ; number += 1) {
    const tx = await store.begin(`${name}/${number}`);
    for (const part of ["a", "b", "c"]) await tx.put(`${name}/${number}/${part}`, value);
    await tx.commit();
    say(`${name}/${number}`);
  }
}

await Promise.all(Array.from({ length: 8 }, (_, index) => lane(`${prefix}${index}`)));
