// Owns the entry point @agenttx/tools/adapter-kit.

export { certify, requireCertified } from "./adapter-kit/certify.js";
export type { CertifiableTool } from "./adapter-kit/mark.js";
export { isCertified } from "./adapter-kit/mark.js";
export type { ClaimResult, ConformanceReport } from "./adapter-kit/report.js";
export { SUITE_VERSION } from "./adapter-kit/report.js";
export type { AdapterUnderTest, TestFramework } from "./adapter-kit/suite.js";
export { adapterConformance, checkAdapter } from "./adapter-kit/suite.js";
export type { AdapterCase, AdapterTool, AdapterWorld, HeldCall } from "./adapter-kit/world.js";
