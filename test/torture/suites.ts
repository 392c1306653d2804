// Owns the list of suites, in the order in which all of them run.
import type { Suite } from "./suite.js";
import { coreSuites } from "./suites/core.js";
import { crash } from "./suites/crash.js";
import { faces } from "./suites/faces.js";
import { histories } from "./suites/histories.js";
import { isolation } from "./suites/isolation.js";
import { model } from "./suites/model.js";
import { mutation } from "./suites/mutation.js";
import { points } from "./suites/points.js";
import { sabotage } from "./suites/sabotage.js";
import { saga } from "./suites/saga.js";
import { sanitizers } from "./suites/sanitizers.js";

export const SUITES: readonly Suite[] = [
  ...coreSuites,
  model,
  faces,
  isolation,
  histories,
  crash,
  points,
  saga,
  sanitizers,
  sabotage,
  mutation,
];
