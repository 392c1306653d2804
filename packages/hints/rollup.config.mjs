// Bundles the compiled files into one ES module and one declaration file without outside names.
import { dts } from "rollup-plugin-dts";

export default [
  { input: "build/tsc/index.js", output: { file: "dist/index.js", format: "es" } },
  {
    input: "build/tsc/index.d.ts",
    output: { file: "dist/index.d.ts", format: "es" },
    plugins: [dts({ respectExternal: true, tsconfig: "tsconfig.json" })],
  },
];
