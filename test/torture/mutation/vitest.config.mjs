// Owns how the tests of one package run while its code is mutated: in the package's folder, one
// process, without the tests that measure time (a slow mutant would look caught).
export default {
  test: {
    include: ["**/src/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**", "**/linear.test.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 30_000,
  },
};
