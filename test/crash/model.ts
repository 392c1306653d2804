// Owns what the driver believes, from acknowledgements alone: which steps of which transaction
// stand, how it ended, and what was under way when its process died.
import type { Line, StepAnswer, StepTry } from "./lines.js";

export interface Acknowledged {
  readonly rid: string;
  readonly tx: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly answer: StepAnswer;
}

type Pending =
  | { readonly kind: "step"; readonly request: StepTry }
  | { readonly kind: "rollback"; readonly toStep: number }
  | { readonly kind: "commit" }
  | { readonly kind: "abort" };

export interface ModelTransaction {
  readonly id: string;
  /** Steps that stand, in order. */
  steps: StepTry[];
  /** Asked for, not answered. */
  pending: Pending | null;
  /** `open`: no end was acknowledged. `frozen`: open, and where it stands is not known. */
  status: "open" | "frozen" | "COMMITTED" | "ROLLED_BACK" | "FAILED";
  version: string | null;
}

export class Model {
  readonly transactions = new Map<string, ModelTransaction>();
  readonly answers: Acknowledged[] = [];
  readonly begins: { readonly rid: string; readonly tx: string }[] = [];
  readonly violations: string[] = [];
  readonly counts = { commits: 0, aborts: 0, conflicts: 0, steps: 0, rewinds: 0, resumed: 0 };
  /** Where an item was used: every item belongs to one request. */
  readonly #tried = new Map<string, StepTry>();
  #beginsTried = 0;

  /** Begins that were asked for and never answered: so many transactions may be unknown. */
  get unknownMax(): number {
    return this.#beginsTried - this.begins.length;
  }

  hear(line: Line): void {
    switch (line.k) {
      case "begin-try":
        this.#beginsTried += 1;
        return;
      case "begin":
        this.begins.push({ rid: line.rid, tx: line.tx });
        this.transactions.set(line.tx, {
          id: line.tx,
          steps: [],
          pending: null,
          status: "open",
          version: null,
        });
        return;
      case "recovered":
        for (const problem of line.problems) this.#violate(`recovery: ${JSON.stringify(problem)}`);
        return;
      case "problem":
        this.#violate(`${line.where}: ${line.message}`);
        return;
      case "opened":
      case "working":
      case "rested":
      case "dies":
      case "closed":
      case "probed":
      case "facts":
        return;
      default:
        this.#hearOf(line);
    }
  }

  #hearOf(line: Extract<Line, { tx: string }>): void {
    const tx = this.transactions.get(line.tx);
    if (tx === undefined) {
      // Its begin was not acknowledged; it can only have been found after a crash.
      if (line.k !== "resumed") this.#violate(`${line.k} of unknown ${line.tx}`);
      this.transactions.set(line.tx, {
        id: line.tx,
        steps: [],
        pending: null,
        status: "open",
        version: null,
      });
      return;
    }
    switch (line.k) {
      case "step-try":
        this.#tried.set(line.rid, line);
        tx.pending = { kind: "step", request: line };
        return;
      case "step":
        this.#stepAnswered(tx, line);
        return;
      case "rollback-try":
        tx.pending = { kind: "rollback", toStep: line.toStep };
        return;
      case "rollback":
        tx.pending = null;
        if (!line.rolledBack) tx.status = "frozen";
        else tx.steps = tx.steps.slice(0, line.nextStep - 1);
        this.counts.rewinds += 1;
        return;
      case "commit-try":
        tx.pending = { kind: "commit" };
        return;
      case "commit":
        tx.pending = null;
        tx.status = "COMMITTED";
        tx.version = line.version;
        this.counts.commits += 1;
        return;
      case "conflict":
        tx.pending = null;
        this.counts.conflicts += 1;
        return;
      case "abort-try":
        tx.pending = { kind: "abort" };
        return;
      case "abort":
        tx.pending = null;
        if (line.status !== "ROLLED_BACK") this.#violate(`abort of ${tx.id}: ${line.status}`);
        tx.status = "ROLLED_BACK";
        this.counts.aborts += 1;
        return;
      case "resumed":
        this.#resumed(tx, line);
        return;
    }
  }

  #stepAnswered(tx: ModelTransaction, line: StepAnswer): void {
    const request = this.#tried.get(line.rid);
    if (request === undefined) {
      this.#violate(`an answer to ${line.rid}, which nobody sent`);
      return;
    }
    const { tool, args } = request;
    tx.pending = null;
    this.counts.steps += 1;
    this.answers.push({ rid: line.rid, tx: tx.id, tool, args, answer: line });
    if (line.status === "SUCCESS") {
      if (line.step !== tx.steps.length + 1) {
        this.#violate(`${tx.id}: step ${line.step} succeeded after ${tx.steps.length} steps`);
      }
      tx.steps.push(request);
    } else if (line.status === "ROLLBACK_TRIGGERED") {
      tx.steps = tx.steps.slice(0, line.nextStep - 1);
      this.counts.rewinds += 1;
    } else if (line.transactionStatus === "FROZEN") tx.status = "frozen";
    else tx.status = "FAILED";
  }

  /** What was under way is known now: it happened, or it did not. */
  #resumed(tx: ModelTransaction, line: Extract<Line, { k: "resumed" }>): void {
    this.counts.resumed += 1;
    if (tx.status !== "open" && tx.status !== "frozen") {
      this.#violate(`${tx.id} is ${line.status}, but it was acknowledged as ${tx.status}`);
    }
    const { pending } = tx;
    if (line.status === "FROZEN") {
      tx.status = "frozen";
      // A commit was not carried out; a step or rollback is still under way.
      if (pending?.kind === "commit" || pending?.kind === "abort") tx.pending = null;
      return;
    }
    const stood = tx.steps.length + 1;
    const { nextStep } = line;
    const wasFrozen = tx.status === "frozen";
    if (pending?.kind === "step" && nextStep === stood + 1) tx.steps.push(pending.request);
    else if (nextStep < stood && (wasFrozen || mayRewind(pending, nextStep))) {
      tx.steps = tx.steps.slice(0, nextStep - 1);
    } else if (nextStep !== stood) {
      this.#violate(`${tx.id} goes on at step ${nextStep} after ${tx.steps.length} steps`);
    }
    tx.status = "open";
    tx.pending = null;
  }

  #violate(text: string): void {
    this.violations.push(text);
  }
}

function mayRewind(pending: Pending | null, nextStep: number): boolean {
  if (pending?.kind === "step") return true;
  return pending?.kind === "rollback" && pending.toStep === nextStep;
}
