#!/usr/bin/env node
// Runs every test, C++ ones included, and ends with one line `N passed, N failed`.
// Arguments are handed to vitest (`npm test -- packages/policy`); the C++ tests run only without.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const coreTest = join(root, "native", "build", "Release", "agenttx_core_test");
const args = process.argv.slice(2);

function tell(line) {
  process.stderr.write(`test: ${line}\n`);
}

/** Runs a command, shows its output live and returns its exit code and text; says when it died. */
function run(title, command, commandArgs) {
  return new Promise((resolve) => {
    const child = spawn(command, commandArgs, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
      process.stdout.write(chunk);
    });
    child.on("error", (error) => {
      tell(`${title}: ${error.message}`);
      resolve({ code: 1, text });
    });
    child.on("close", (code, signal) => {
      if (signal !== null) tell(`${title} was stopped by ${signal}: it counts as one failure`);
      resolve({ code: code ?? 1, text });
    });
  });
}

async function runCore() {
  if (!existsSync(coreTest)) {
    tell(`${coreTest} is missing; run \`npm run setup\` first`);
    return { passed: 0, failed: 1 };
  }
  const { code, text } = await run("the C++ tests", coreTest, []);
  const counts = /(\d+) passed, (\d+) failed\s*$/.exec(text);
  const passed = counts === null ? 0 : Number(counts[1]);
  const failed = counts === null ? 1 : Number(counts[2]);
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed };
}

async function runVitest() {
  const dir = mkdtempSync(join(tmpdir(), "agenttx-test-"));
  const report = join(dir, "report.json");
  const { code } = await run("vitest", join(root, "node_modules", ".bin", "vitest"), [
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...args,
  ]);
  let passed = 0;
  let failed = 0;
  if (existsSync(report)) {
    const result = JSON.parse(readFileSync(report, "utf8"));
    passed = result.numPassedTests;
    failed = result.numFailedTests;
    // A file that does not even load counts no test: it is a failure all the same.
    const broken = result.testResults.filter(
      (file) =>
        file.status === "failed" && file.assertionResults.every((t) => t.status !== "failed"),
    );
    failed += broken.length;
  }
  rmSync(dir, { recursive: true, force: true });
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed };
}

const core = args.length === 0 ? await runCore() : { passed: 0, failed: 0 };
const vitest = await runVitest();
const passed = core.passed + vitest.passed;
const failed = core.failed + vitest.failed;
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
