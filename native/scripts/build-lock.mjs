// Owns mutual exclusion between two builds on one machine. The lock is a file that holds the
// builder's pid; the lock of a dead builder is taken over.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

function holderOf(path) {
  try {
    return Number(readFileSync(path, "utf8").trim());
  } catch {
    return null; // released meanwhile
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Two waiters may see the same dead holder: only the file that names it is put away. */
function removeStale(path, pid) {
  const aside = `${path}.stale-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return; // another waiter was faster
  }
  if (holderOf(aside) !== pid) {
    try {
      linkSync(aside, path);
    } catch {
      // A third builder has the lock already; both of them will finish, the last rename wins.
    }
  }
  rmSync(aside, { force: true });
}

/** Waits for the lock; `onWait(pid)` is called once when another builder has it. */
export async function acquireLock(path, onWait) {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, `${process.pid}\n`);
  let told = false;
  try {
    for (;;) {
      try {
        linkSync(own, path);
        return () => rmSync(path, { force: true });
      } catch (error) {
        if (error.code !== "EEXIST") throw error;
      }
      const holder = holderOf(path);
      if (holder === null) continue;
      if (!isAlive(holder)) {
        removeStale(path, holder);
        continue;
      }
      if (!told) onWait(holder);
      told = true;
      await delay(500);
    }
  } finally {
    rmSync(own, { force: true });
  }
}
