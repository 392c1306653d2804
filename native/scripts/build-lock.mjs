// Owns mutual exclusion between two builds on one machine. The lock is a file that holds the pids
// of the builder and of the program it runs; when all of them are gone, it is taken over. A builder
// that was killed may leave its compiler running: two of them must not write to one folder.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Text of the lock: pids, separated by spaces; null when it was released meanwhile. */
function holderOf(path) {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return null;
  }
}

/** The first process of the holder that lives, or undefined. */
function livingOf(holder) {
  return holder.split(" ").map(Number).find(isAlive);
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
function removeStale(path, holder) {
  const aside = `${path}.stale-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return; // another waiter was faster
  }
  if (holderOf(aside) !== holder) {
    try {
      linkSync(aside, path);
    } catch {
      // A third builder has the lock already; both of them will finish, the last rename wins.
    }
  }
  rmSync(aside, { force: true });
}

/**
 * Waits for the lock; `onWait(pid)` is called once when another builder has it. Returns `release`,
 * and `covers(pid)`: the lock lasts at least as long as that process.
 */
export async function acquireLock(path, onWait) {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, `${process.pid}\n`);
  let told = false;
  try {
    for (;;) {
      try {
        linkSync(own, path);
        return {
          release: () => rmSync(path, { force: true }),
          covers: (pid) => writeFileSync(path, `${process.pid} ${pid}\n`),
        };
      } catch (error) {
        if (error.code !== "EEXIST") throw error;
      }
      const holder = holderOf(path);
      if (holder === null) continue;
      const living = livingOf(holder);
      if (living === undefined) {
        removeStale(path, holder);
        continue;
      }
      if (!told) onWait(living);
      told = true;
      await delay(500);
    }
  } finally {
    rmSync(own, { force: true });
  }
}
