// Owns the end of idle transactions (P4): aborted and compensated after the timeout.
//
//   I1 One timer for all, set to the earliest end; none while nothing is open.
//   I2 A transaction with a running operation, a frozen one and a workflow's are not idle.
import { takeIfFree } from "./elsewhere.js";
import { loadTransaction } from "./load.js";
import { abortOperation } from "./operations.js";
import { type EngineState, type OpenTransaction, transactionKey } from "./state.js";

export const IDLE_TIMEOUT = "IDLE_TIMEOUT";

interface Named {
  readonly id: string;
  readonly namespace: string;
}

export class IdleReaper {
  readonly #engine: EngineState;
  #cancel: (() => void) | null = null;
  #reaping: Promise<void> | null = null;

  constructor(engine: EngineState) {
    this.#engine = engine;
  }

  /** Called when a transaction was opened or parked. */
  watch(): void {
    const { idleTimeoutMs } = this.#engine.settings;
    // A reaping that runs sets the timer itself when it is done (I1).
    if (this.#cancel !== null || this.#reaping !== null) return;
    if (idleTimeoutMs === 0 || this.#engine.closing) return;
    this.#arm(idleTimeoutMs);
  }

  /** Stops the timer and waits for aborts that it began. */
  async close(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    await this.#reaping;
  }

  #arm(ms: number): void {
    this.#cancel = this.#engine.clock.schedule(Math.max(ms, 1), () => {
      this.#cancel = null;
      this.#reaping = this.#reap().finally(() => {
        this.#reaping = null;
        this.#watchAgain();
      });
    });
  }

  async #reap(): Promise<void> {
    const { clock, settings } = this.#engine;
    const deadline = clock.monotonic() - settings.idleTimeoutMs;
    const idle = this.#idleSince(deadline);
    for (const one of idle) {
      if (this.#engine.closing) return;
      await this.#end(one, deadline);
    }
  }

  #watchAgain(): void {
    const { clock, settings, closing } = this.#engine;
    const earliest = this.#earliest();
    if (earliest === null || closing) return;
    this.#arm(earliest + settings.idleTimeoutMs - clock.monotonic());
  }

  async #end({ id, namespace }: Named, deadline: number): Promise<void> {
    const key = transactionKey(id, namespace);
    const parked = this.#engine.parked.has(key);
    try {
      const load = () => loadTransaction(this.#engine, id, namespace);
      const open = await (parked ? this.#takeParked({ id, namespace }, load) : load());
      if (open === null) return;
      // Somebody may have come back meanwhile; a parked one was idle until we loaded it.
      if (isBusy(open) || (!parked && open.lastActiveMs > deadline)) return;
      await abortOperation(open, IDLE_TIMEOUT);
    } catch {
      // It stays open and is looked at again a timeout later; recovery reports what is broken.
      if (parked) {
        const sinceMs = this.#engine.clock.monotonic();
        this.#engine.parked.set(key, { id, namespace, sinceMs });
      }
    }
  }

  /** Null when another engine has taken it up meanwhile, or it has ended. */
  async #takeParked(
    { id, namespace }: Named,
    load: () => Promise<OpenTransaction>,
  ): Promise<OpenTransaction | null> {
    const { parked, clock } = this.#engine;
    const key = transactionKey(id, namespace);
    const answer = await takeIfFree(this.#engine, { id, namespace }, load);
    if (typeof answer !== "string") return answer;
    if (answer === "ended") parked.delete(key);
    else parked.set(key, { id, namespace, sinceMs: clock.monotonic() });
    return null;
  }

  #idleSince(deadline: number): Named[] {
    const found: Named[] = [];
    for (const open of this.#engine.open.values()) {
      if (open instanceof Promise || isBusy(open)) continue;
      if (open.lastActiveMs <= deadline) found.push(open);
    }
    for (const parked of this.#engine.parked.values()) {
      if (parked.sinceMs <= deadline) found.push(parked);
    }
    return found;
  }

  #earliest(): number | null {
    let earliest: number | null = null;
    for (const open of this.#engine.open.values()) {
      const nowMs = this.#engine.clock.monotonic();
      // What is busy now is idle a whole timeout from now at the earliest.
      const at = open instanceof Promise || isBusy(open) ? nowMs : open.lastActiveMs;
      earliest = Math.min(earliest ?? at, at);
    }
    for (const { sinceMs } of this.#engine.parked.values()) {
      earliest = Math.min(earliest ?? sinceMs, sinceMs);
    }
    return earliest;
  }
}

function isBusy(open: OpenTransaction): boolean {
  const { header, lock, ended, fenced } = open;
  if (header.workflow !== undefined || fenced) return true;
  return lock.running !== null || ended !== null || header.status === "FROZEN";
}
