import { defineConfig } from "vitest/config";

// Unit tests lie beside the code they test; what crosses packages lies in test/.
// Packages resolve to their built files, so a build comes first.
export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "native/lib/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
