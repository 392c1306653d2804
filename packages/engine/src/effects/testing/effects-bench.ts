// Owns a store, a clock and an effects side for one test, and their restart.

import type { Store } from "@agenttx/model";
import { openMemoryStore } from "@agenttx/storage/memory";
import type { EngineEvent } from "../../ports.js";
import type { AnyTool, EffectsPort, ToolRegistry } from "../contract.js";
import { createEffects, type EffectsOptions } from "../create-effects.js";
import { FakeClock } from "./fake-clock.js";
import { registryOf } from "./scripted-tool.js";
import { SmallDriver } from "./small-driver.js";

export class EffectsBench {
  readonly store: Store = openMemoryStore();
  readonly events: EngineEvent[] = [];
  clock = new FakeClock();
  effects: EffectsPort;
  #registry: ToolRegistry;
  readonly #options: Partial<EffectsOptions>;

  constructor(tools: readonly AnyTool[], options: Partial<EffectsOptions> = {}) {
    this.#options = options;
    this.#registry = registryOf(...tools);
    this.effects = this.#create();
  }

  begin(id = "t1", namespace = ""): Promise<SmallDriver> {
    return SmallDriver.begin(this.store, this.effects, id, namespace);
  }

  attach(id = "t1", namespace = ""): Promise<SmallDriver> {
    return SmallDriver.attach(this.store, this.effects, id, namespace);
  }

  /** The process dies: every object is thrown away, only what is durable stays. */
  async crash(tools?: readonly AnyTool[]): Promise<void> {
    await this.store.reopen();
    const nowMs = this.clock.now();
    // Timers of the dead process never fire.
    this.clock = new FakeClock();
    await this.clock.advance(nowMs - this.clock.now());
    if (tools !== undefined) this.#registry = registryOf(...tools);
    this.effects = this.#create();
  }

  finish<Result>(work: Promise<Result>): Promise<Result> {
    return this.clock.finish(work);
  }

  async undoRecords(transaction = "t1", namespace = ""): Promise<number> {
    return (await this.effects.undoActions(transaction, namespace)).length;
  }

  async late(transaction = "t1"): Promise<unknown[]> {
    const rows = await this.store.scanRecords("late", { transaction });
    return rows.map(({ value }) => JSON.parse(Buffer.from(value).toString()));
  }

  #create(): EffectsPort {
    return createEffects({
      store: this.store,
      tools: this.#registry,
      clock: this.clock,
      observer: { onEvent: (event) => this.events.push(event) },
      random: () => 0.5,
      ...this.#options,
    });
  }
}
