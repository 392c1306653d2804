// Owns the suite of faces (M3): random lives of transactions, the same through the embedded engine
// and over the wire. Every answer is the same on both, and what a transaction sees, what stands
// outside and what it commits is what a list of its steps says.
import { embedded, type Face, type Handle, overTheWire, type StepAnswer } from "../faces/face.js";
import { randomOf, type Suite, seedOf, weaknesses } from "../suite.js";

const STEPS_MAX = 40;
const KEYS = ["a", "a/", "b", "é"] as const;

interface Step {
  readonly writes: readonly (readonly [string, number | null])[];
  readonly books: boolean;
}

type Random = () => number;
const below = (random: Random, limit: number) => Math.floor(random() * limit);

/** One transaction on every face at once. */
class Lives {
  readonly figures: { commands: number; rewinds: number; restarts: number; commits: number };
  readonly #faces: readonly Face[];
  readonly #random: Random;
  readonly #prefix: string;
  #handles: Handle[] = [];
  #steps: Step[] = [];

  constructor(faces: readonly Face[], random: Random, prefix: string, figures: Lives["figures"]) {
    this.#faces = faces;
    this.#random = random;
    this.#prefix = prefix;
    this.figures = figures;
  }

  /** Runs to its end; what differs, or null. */
  async run(): Promise<string | null> {
    this.#handles = await Promise.all(this.#faces.map((face) => face.begin()));
    const booked = this.#faces.map(({ standing }) => standing.size);
    for (let count = 0; count < STEPS_MAX; count += 1) {
      const problem = (await this.#act()) ?? this.#misplaced(booked);
      if (problem !== null) return problem;
      if (this.#handles[0]?.status !== "ACTIVE") return null;
    }
    return (await this.#look()) ?? this.#end();
  }

  async #act(): Promise<string | null> {
    const random = this.#random;
    const roll = below(random, 100);
    const key = this.#prefix + KEYS[below(random, KEYS.length)];
    if (roll < 40) {
      const value = random() < 0.2 ? null : below(random, 10);
      return this.#step("put", { key, value }, { writes: [[key, value]], books: false });
    }
    if (roll < 60) return this.#step("book", { fail: false }, { writes: [], books: true });
    if (roll < 68) return this.#step("book", { fail: true }, null);
    if (roll < 72) return this.#step("nope", {}, null);
    if (roll < 76) return this.#step("put", { key, value: "wrong" }, null);
    if (roll < 90) return this.#look();
    if (roll < 96) return this.#rollback(1 + below(random, this.#steps.length + 1));
    if (roll < 98 && this.#steps.length > 0) {
      return this.#report(1 + below(random, this.#steps.length));
    }
    return random() < 0.3 ? this.#restart() : this.#look();
  }

  async #step(tool: string, args: object, done: Step | null): Promise<string | null> {
    const answers = await this.#all((handle) => handle.step(tool, args));
    return this.#follow(`${tool} ${JSON.stringify(args)}`, answers, done);
  }

  async #report(step: number): Promise<string | null> {
    const answers = await this.#all((handle) => handle.reportFailure(step, { text: "wrong" }));
    return this.#follow(`report of ${step}`, answers, null);
  }

  async #rollback(toStep: number): Promise<string | null> {
    const answers = await this.#all((handle) => handle.rollback(toStep));
    this.figures.rewinds += 1;
    this.#steps = this.#steps.slice(0, toStep - 1);
    return differing(`rollback to ${toStep}`, answers);
  }

  async #restart(): Promise<string | null> {
    const handles = this.#handles;
    this.#handles = [];
    for (const [index, face] of this.#faces.entries()) {
      this.#handles.push(await face.restart(handles[index]?.id ?? ""));
    }
    this.figures.restarts += 1;
    return null;
  }

  /** The state that it sees is the list of its steps; looking is a step too. */
  async #look(): Promise<string | null> {
    const expected = JSON.stringify(this.#state());
    const answers = await this.#all((handle) => handle.step("get", { prefix: this.#prefix }));
    const seen = JSON.stringify(answers[0]?.output);
    if (seen !== expected) return `the state is ${seen}, the steps say ${expected}`;
    return this.#follow("get", answers, { writes: [], books: false });
  }

  async #end(): Promise<string | null> {
    const answers = await this.#all((handle) => handle.commit());
    this.figures.commits += 1;
    const [steps] = answers.map(({ stepsCommitted }) => stepsCommitted);
    if (steps !== this.#steps.length) return `${steps} steps committed of ${this.#steps.length}`;
    return differing(
      "commit",
      answers.map(({ stepsCommitted }) => stepsCommitted),
    );
  }

  #follow(what: string, answers: readonly StepAnswer[], done: Step | null): string | null {
    const [first] = answers;
    if (first === undefined) return "nobody answered";
    const problem = differing(what, answers.map(plain));
    if (problem !== null) return problem;
    if (first.status === "SUCCESS") {
      if (done === null) return `${what} succeeded`;
      this.#steps.push(done);
    } else if (first.status === "FAILED") this.#steps = [];
    else {
      this.figures.rewinds += 1;
      this.#steps = this.#steps.slice(0, first.nextStep - 1);
    }
    const isNext = first.status === "FAILED" || first.nextStep === this.#steps.length + 1;
    return isNext ? null : `${what}: goes on at ${first.nextStep} after ${this.#steps.length}`;
  }

  /** What stands outside is what the steps that stand have done, on every face. */
  #misplaced(before: readonly number[]): string | null {
    const expected = this.#steps.filter(({ books }) => books).length;
    for (const [index, face] of this.#faces.entries()) {
      const standing = face.standing.size - (before[index] ?? 0);
      if (standing !== expected) return `${face.name}: ${standing} stand, not ${expected}`;
    }
    return null;
  }

  #state(): string[] {
    const state = new Map<string, number>();
    for (const [key, value] of this.#steps.flatMap(({ writes }) => writes)) {
      if (value === null) state.delete(key);
      else state.set(key, value);
    }
    const entries = [...state].map(([key, value]) => `${key}=${value}`);
    // In the order of the keys' bytes, as a scan gives them.
    return entries.sort((one, other) =>
      Buffer.compare(Buffer.from(one.split("=")[0] ?? ""), Buffer.from(other.split("=")[0] ?? "")),
    );
  }

  #all<Answer>(act: (handle: Handle) => Promise<Answer>): Promise<Answer[]> {
    this.figures.commands += this.#handles.length;
    return Promise.all(this.#handles.map(act));
  }
}

/** What must be equal: no ids, no times. */
function plain({ status, step, nextStep, output, strategy, hint }: StepAnswer) {
  return { status, step, nextStep, output, strategy, hint: hint?.text };
}

function differing(what: string, answers: readonly unknown[]): string | null {
  const texts = new Set(answers.map((answer) => JSON.stringify(answer)));
  return texts.size === 1 ? null : `${what} is answered ${[...texts].join(" and ")}`;
}

export const faces: Suite = {
  name: "faces",
  about: "random transactions, the same embedded and over the wire, and as a list of steps (M3)",
  async run({ seed, seconds, cursor }) {
    const ends = Date.now() + seconds * 1_000;
    const figures = { commands: 0, rewinds: 0, restarts: 0, commits: 0 };
    const violations: string[] = [];
    const all = [await embedded(), await overTheWire("session"), await overTheWire("unary")];
    const first = Number(cursor ?? 0);
    let number = first;
    try {
      for (; Date.now() < ends || number === first; number += 1) {
        const random = randomOf(seedOf(seed, number));
        const lives = new Lives(all, random, `t${number}-`, figures);
        const problem = await lives.run().catch((error: unknown) => String(error));
        if (problem !== null) violations.push(`transaction ${number}: ${problem}`.slice(0, 1_000));
        if (violations.length >= 20) break;
      }
    } finally {
      for (const face of all) await face.close();
    }
    return {
      cycles: number - first,
      violations,
      figures,
      weak: weaknesses({
        "at least one rewind a transaction": figures.rewinds >= number - first,
        "a transaction was committed": figures.commits > 0,
      }),
      cursor: String(number),
    };
  },
};
