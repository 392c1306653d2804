// Owns the public list of @agenttx/testkit.

export type { MemoryStoreOptions } from "@agenttx/storage/memory";
export { openMemoryStore } from "@agenttx/storage/memory";
export type { EffectCount, EffectWorld, EffectWorldOptions } from "./effect-world.js";
export { effectWorld } from "./effect-world.js";
export type { FakeClock } from "./fake-clock.js";
export { fakeClock } from "./fake-clock.js";
export type { Fault, FaultKind } from "./faults.js";
export { FaultRegistry, faultPoint, processFaults } from "./faults.js";
export type { FaultPlan, FaultyStore } from "./faulty-store.js";
export { faultyStore } from "./faulty-store.js";
export type {
  ExecuteLine,
  LookupLine,
  Registration,
  ScriptedCall,
  ScriptedTool,
  ScriptedToolOptions,
  UndoLine,
  VerifyLine,
} from "./scripted-tool.js";
export { scriptedTool } from "./scripted-tool.js";
