// One ESM file and one declaration file, without an import: what `tsc` wrote to build/ is joined,
// and the words taken from @agenttx/model (types only) are copied into the declarations.
import dts from "rollup-plugin-dts";

// An import left over would be a dependency that the package does not declare.
const failOnWarning = (warning) => {
  throw new Error(warning.message);
};

export default [
  {
    input: "build/index.js",
    onwarn: failOnWarning,
    output: { file: "dist/index.js", format: "es" },
  },
  {
    input: "build/index.d.ts",
    onwarn: failOnWarning,
    plugins: [dts({ respectExternal: true, tsconfig: "tsconfig.json" })],
    output: { file: "dist/index.d.ts", format: "es" },
  },
];
