const { readdirSync } = require("node:fs");
const { join } = require("node:path");

// The arrows between packages, as ARCHITECTURE.md draws them. A new package gets its row here.
const ALLOWED = {
  model: [],
  policy: ["model"],
  hints: ["model"],
  ledger: ["model"],
  wire: ["model"],
  storage: ["model"],
  engine: ["model", "policy", "hints", "ledger"],
  recovery: ["model", "ledger", "engine"],
  tools: ["model"],
  testkit: ["model", "storage", "engine"],
  server: ["model", "policy", "hints", "ledger", "wire", "storage", "engine", "recovery", "tools"],
  client: ["model", "wire"],
  cli: [
    "model",
    "policy",
    "hints",
    "ledger",
    "storage",
    "engine",
    "recovery",
    "tools",
    "server",
    "client",
  ],
};
for (const name of readdirSync(join(__dirname, "packages"))) {
  if (!Object.hasOwn(ALLOWED, name)) throw new Error(`packages/${name} has no row of arrows.`);
}

const TESTS = "\\.test\\.ts$|/testdata/|/testing/";

module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      severity: "error",
      comment: "A cycle means two files own one thing.",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    ...Object.entries(ALLOWED).map(([name, allowed]) => ({
      name: `arrows-of-${name}`,
      severity: "error",
      comment: `${name} may import: ${allowed.join(", ") || "nothing"}.`,
      from: { path: `^packages/${name}/src/`, pathNot: TESTS },
      to: {
        path: "^packages/([^/]+)/",
        pathNot: [name, ...allowed].map((other) => `^packages/${other}/`),
      },
    })),
    {
      name: "pure-packages-stay-pure",
      severity: "error",
      comment: "policy, hints, ledger and model do no I/O.",
      from: { path: "^packages/(model|policy|hints|ledger)/src/", pathNot: TESTS },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "policy-and-hints-stand-alone",
      severity: "error",
      comment: "They are published without runtime dependencies: type imports from model only.",
      from: { path: "^packages/(policy|hints)/src/", pathNot: TESTS },
      to: { path: "^(packages/model|node_modules)/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "only-storage-loads-the-addon",
      severity: "error",
      comment: "The addon has one face: packages/storage. Doctor and bench look at it on purpose.",
      from: {
        path: "^packages/",
        pathNot: ["^packages/storage/", "^packages/cli/src/doctor", TESTS],
      },
      to: { path: "^native/" },
    },
    {
      name: "no-deep-imports",
      severity: "error",
      comment: "A package is entered by its exports.",
      from: { path: "^packages/([^/]+)/src/", pathNot: TESTS },
      to: { path: "^packages/[^/]+/src/", pathNot: "^packages/$1/src/" },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.base.json" },
    doNotFollow: { path: "node_modules|dist" },
    exclude: { path: "(^|/)dist/.*\\.js\\.map$" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["types", "import", "node", "default"],
    },
  },
};
