// Owns the claims: what every adapter that calls itself reversible must do (E3-E5, E8, E9).

import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "@agenttx/model";
import { AdapterCall, type Settled } from "./call.js";
import type { AdapterCase, AdapterTool } from "./world.js";

/** Thrown when a claim is about something that the tool or its world does not have. */
export class Skipped extends Error {
  override readonly name = "Skipped";
}

export interface Trial {
  readonly tool: AdapterTool;
  readonly world: AdapterCase;
  /** What there was before anything was called. */
  readonly before: unknown;
  /** A call with a fresh key. */
  call(args?: JsonValue): AdapterCall;
}

/** Title -> proof: resolves when it holds, throws Skipped, or throws what is wrong. */
export type AdapterClaims = Readonly<Record<string, (trial: Trial) => Promise<void>>>;

export async function beginTrial(tool: AdapterTool, world: AdapterCase): Promise<Trial> {
  return {
    tool,
    world,
    before: await world.snapshot(),
    call: (args = world.args) => new AdapterCall(tool, args, randomUUID()),
  };
}

function demand(holds: boolean, problem: string): asserts holds {
  if (!holds) throw new Error(problem);
}

function requireDone(settled: Settled): void {
  if (settled.kind === "done") return;
  throw new Error("a call that should work threw", { cause: settled.error });
}

async function isAsBefore({ world, before }: Trial): Promise<boolean> {
  return isDeepStrictEqual(await world.snapshot(), before);
}

async function demandNoTrace(trial: Trial, when: string): Promise<void> {
  demand(await isAsBefore(trial), `${when}, something is left or missing`);
}

async function done(trial: Trial, args?: JsonValue): Promise<AdapterCall> {
  const call = trial.call(args);
  requireDone(await call.run());
  demand(!(await isAsBefore(trial)), "the call changed nothing that the world's snapshot shows");
  return call;
}

async function demandUndone(call: AdapterCall, known?: "output" | "no output"): Promise<void> {
  demand((await call.undo(known)) !== "dirty", "the undo calls dirty what nobody else touched");
}

function requireLookup({ tool }: Trial): void {
  if (tool.lookup === undefined) throw new Skipped("the tool has no lookup");
}

/** Dies between the durable undo and the effect, where there is such a moment. */
async function neverHappened(trial: Trial): Promise<AdapterCall> {
  const call = trial.call();
  const { undo = {} } = trial.tool;
  if (Object.keys(undo).length === 0) return call;
  call.onRegister = () => Promise.reject(new Error("the process died"));
  await call.run();
  await demandNoTrace(trial, "when its undo could not be registered");
  return call;
}

export const ADAPTER_CLAIMS: AdapterClaims = {
  "do, then undo: no trace is left": async (trial) => {
    const call = await done(trial);
    await demandUndone(call);
    await demandNoTrace(trial, "after do and undo");
  },

  "an undo without the output leaves no trace either": async (trial) => {
    const call = await done(trial);
    await demandUndone(call, "no output");
    await demandNoTrace(trial, "after an undo whose output was lost");
  },

  "undoing twice is harmless": async (trial) => {
    const call = await done(trial);
    await demandUndone(call);
    await demandUndone(call);
    await demandNoTrace(trial, "after a second undo");
  },

  "undoing what never happened is harmless": async (trial) => {
    const call = await neverHappened(trial);
    await demandUndone(call, "no output");
    await demandNoTrace(trial, "after the undo of what never happened");
  },

  "a repeated key is one effect": async (trial) => {
    const call = await done(trial);
    const once = await trial.world.snapshot();
    await call.run();
    demand(
      isDeepStrictEqual(await trial.world.snapshot(), once),
      "the second call with one key had an effect of its own",
    );
    await demandUndone(call);
    await demandNoTrace(trial, "after the undo of a repeated call");
  },

  "calls are undone newest first": async (trial) => {
    const first = await done(trial);
    const between = await trial.world.snapshot();
    const second = trial.call(trial.world.nextArgs);
    requireDone(await second.run());
    await demandUndone(second);
    demand(
      isDeepStrictEqual(await trial.world.snapshot(), between),
      "undoing the second call did not give back what the first had made",
    );
    await demandUndone(first);
    await demandNoTrace(trial, "after both undos");
  },

  "after an undo it can be done again, with a new key": async (trial) => {
    await demandUndone(await done(trial));
    const again = await done(trial);
    await demandUndone(again);
    await demandNoTrace(trial, "after doing and undoing twice");
  },

  "what somebody else changed since is dirty and stays untouched": async (trial) => {
    const call = await done(trial);
    await trial.world.change();
    const theirs = await trial.world.snapshot();
    const status = await call.undo();
    demand(status === "dirty", `the undo answered ${status} about what somebody else changed`);
    demand(
      isDeepStrictEqual(await trial.world.snapshot(), theirs),
      "the undo said dirty and changed something",
    );
  },

  "what was changed and changed back is dirty as well": async (trial) => {
    if (trial.world.changeAndChangeBack === undefined) {
      throw new Skipped("the other side keeps no versions");
    }
    const call = await done(trial);
    await trial.world.changeAndChangeBack();
    const theirs = await trial.world.snapshot();
    demand((await call.undo()) === "dirty", "the undo took another version for its own");
    demand(
      isDeepStrictEqual(await trial.world.snapshot(), theirs),
      "the undo said dirty and changed something",
    );
  },

  "lookup: landed after it was done, with its output": async (trial) => {
    requireLookup(trial);
    const call = trial.call();
    const settled = await call.run();
    requireDone(settled);
    const answer = await call.lookup();
    demand(answer.status === "landed", `lookup said ${answer.status} of what landed`);
    const same =
      answer.output === undefined ||
      (settled.kind === "done" && isDeepStrictEqual(answer.output, settled.output));
    demand(same, "lookup gave another output than the call");
  },

  "lookup: absent after it was undone": async (trial) => {
    requireLookup(trial);
    const call = await done(trial);
    await demandUndone(call);
    const { status } = await call.lookup();
    demand(status === "absent", `lookup said ${status} of what was undone`);
  },

  "lookup: absent when it never happened, and final means final": async (trial) => {
    requireLookup(trial);
    const call = trial.call();
    const answer = await call.lookup();
    demand(answer.status === "absent", `lookup said ${answer.status} of what never happened`);
    await demandNoTrace(trial, "after a lookup");
    if (!answer.final) return;
    await call.run();
    await demandNoTrace(trial, "although its absence was final, when the call came after all");
  },

  "given up at once, it is found out and leaves no trace": async (trial) => {
    const call = trial.call();
    const running = call.run();
    call.abort();
    await settled(trial, call, running);
  },

  "given up once its undo is durable, it is found out and leaves no trace": async (trial) => {
    if (Object.keys(trial.tool.undo ?? {}).length === 0) {
      throw new Skipped("the tool registers no undo");
    }
    const call = trial.call();
    call.onRegister = () => call.abort();
    await settled(trial, call, call.run());
  },

  "given up before it took effect, a late effect is known or prevented": async (trial) => {
    const held = await hold(trial, "before");
    const call = trial.call();
    const running = call.run();
    await held.arrived;
    call.abort();
    const asked = trial.tool.lookup === undefined ? null : call.lookup();
    // A lookup may wait for the call that it is asked about.
    await Promise.race([asked, wait(50)]);
    await held.release();
    await running;
    const answer = await asked;
    if (answer?.status === "absent" && answer.final) {
      await demandNoTrace(trial, "although the lookup called its absence final");
    }
    await settled(trial, call, running);
  },

  "given up before its answer, a late answer changes nothing": async (trial) => {
    const held = await hold(trial, "after");
    const call = trial.call();
    const running = call.run();
    await held.arrived;
    call.abort();
    if (trial.tool.lookup !== undefined) {
      const { status } = await call.lookup();
      demand(status === "landed", `lookup said ${status} of what landed without an answer`);
    }
    await demandUndone(call, "no output");
    await held.release();
    await running;
    await demandNoTrace(trial, "after the late answer of an undone call");
  },
};

async function hold(trial: Trial, when: "before" | "after") {
  const held = (await trial.world.hold?.(when)) ?? null;
  if (held === null) throw new Skipped(`the other side cannot be held ${when} the effect`);
  return held;
}

/** Whatever became of the call: lookup and world agree, and an undo leaves no trace. */
async function settled(trial: Trial, call: AdapterCall, running: Promise<Settled>): Promise<void> {
  await running;
  if (trial.tool.lookup !== undefined) {
    const absent = await isAsBefore(trial);
    const { status } = await call.lookup();
    const wanted = absent ? "absent" : "landed";
    demand(status === wanted, `lookup said ${status}; the other side says ${wanted}`);
  }
  await demandUndone(call, "no output");
  await demandNoTrace(trial, "after the undo of a call that was given up");
}
