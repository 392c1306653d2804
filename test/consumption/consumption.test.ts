// Goal: what is published works for somebody who has only npm. Method: every public package and
// the addon are packed, installed from their tarballs into an empty project without any script,
// imported, used, and type-checked with the types that resolve there.

import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { platformTriple } from "@agenttx/native";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  importNames,
  missingBuild,
  publishedPackages,
  REPOSITORY,
  readManifest,
} from "./published-packages.js";

const packages = publishedPackages();
const uses = readdirSync(join(REPOSITORY, "test/consumption/uses")).map((file) =>
  basename(file, ".ts"),
);
const MINUTES = 60_000;

let root = "";
let project: string;
let tarballs: string;

/** Output of a program; its own words when it fails. */
function run(command: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(command, args, { cwd, encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  }
}

function packAll(): void {
  const pnpm = join(REPOSITORY, "node_modules/.bin/pnpm");
  for (const { path } of packages) run(pnpm, ["pack", "--pack-destination", tarballs], path);
  const native = join(root, "native");
  const script = join(REPOSITORY, "native/scripts/pack-platform.mjs");
  run(process.execPath, [script, "--local", "--out", native], REPOSITORY);
  for (const folder of readdirSync(native)) {
    run("npm", ["pack", "--pack-destination", tarballs], join(native, folder));
  }
}

function installAll(): void {
  const types = readManifest(join(REPOSITORY, "node_modules/@types/node"));
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: "consumer", private: true, type: "module" }),
  );
  const files = readdirSync(tarballs).map((file) => join(tarballs, file));
  run(
    "npm",
    [
      ...["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"],
      ...files,
      `@types/node@${(types as { version?: string }).version}`,
    ],
    project,
  );
}

/** A TypeScript program for each import name, and the programs of uses/. */
function writeConsumers(): void {
  const source = join(project, "src");
  mkdirSync(source);
  for (const one of packages) {
    for (const [index, name] of importNames(one).entries()) {
      const lines = [
        `import * as all from ${JSON.stringify(name)};`,
        "const names: string[] = Object.keys(all);",
        "if (names.length === 0) throw new Error('it exports nothing');",
      ];
      writeFileSync(join(source, `import-${one.folder}-${index}.ts`), lines.join("\n"));
    }
  }
  cpSync(join(REPOSITORY, "test/consumption/uses"), source, { recursive: true });
  const compilerOptions = {
    target: "es2022",
    lib: ["es2023", "esnext.disposable"],
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    types: ["node"],
    rootDir: "src",
    outDir: "out",
  };
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({ compilerOptions, include: ["src"] }),
  );
}

describe("the published packages", () => {
  beforeAll(() => {
    for (const one of packages) {
      const missing = missingBuild(one);
      if (missing.length === 0) continue;
      throw new Error(`${one.manifest.name} is not built (${missing[0]} is missing): pnpm build`);
    }
    root = mkdtempSync(join(tmpdir(), "agenttx-consumption-"));
    project = join(root, "project");
    tarballs = join(root, "tarballs");
    mkdirSync(project);
    mkdirSync(tarballs);
    packAll();
    installAll();
    writeConsumers();
    run(process.execPath, [join(REPOSITORY, "node_modules/typescript/bin/tsc")], project);
  }, 10 * MINUTES);

  afterAll(() => {
    if (root !== "") rmSync(root, { recursive: true, force: true });
  });

  it("are all of packages/ that are not private, and the two of the addon", () => {
    const installed = readManifest(project) as { dependencies?: Record<string, string> };
    const names = packages.map(({ manifest }) => manifest.name);
    expect(names.length).toBeGreaterThan(3);
    expect(Object.keys(installed.dependencies ?? {}).sort()).toEqual(
      [...names, "@agenttx/native", `@agenttx/native-${platformTriple()}`, "@types/node"].sort(),
    );
  });

  for (const one of packages) {
    for (const [index, name] of importNames(one).entries()) {
      it(`can be imported, with types: ${name}`, () => {
        run(process.execPath, [join(project, `out/import-${one.folder}-${index}.js`)], project);
      });
    }
  }

  for (const use of uses) {
    it(`can be used as their readers would: ${use}`, () => {
      run(process.execPath, [join(project, `out/${use}.js`)], project);
    });
  }

  for (const { folder, manifest } of packages) {
    it(`hold a readme, a licence, no script and no test: ${manifest.name}`, () => {
      const installed = join(project, "node_modules", manifest.name);
      expect(existsSync(join(REPOSITORY, "packages", folder, "src"))).toBe(true);
      expect(existsSync(join(installed, "LICENSE"))).toBe(true);
      expect(existsSync(join(installed, "README.md"))).toBe(true);
      const { scripts = {} } = readManifest(installed);
      for (const script of ["preinstall", "install", "postinstall", "prepare"]) {
        expect(Object.keys(scripts)).not.toContain(script);
      }
      const files = readdirSync(installed, { recursive: true, encoding: "utf8" });
      expect(files.filter((file) => /\.test\.(js|d\.ts)$/.test(file))).toEqual([]);
    });
  }

  it("start the commands they bring", () => {
    for (const { manifest } of packages) {
      for (const command of Object.keys(manifest.bin ?? {})) {
        const help = run(join(project, "node_modules/.bin", command), ["--help"], project);
        expect(help).toContain(command);
      }
    }
  });

  it("load the addon from the platform package, which brings its licences", () => {
    const platform = join(project, "node_modules/@agenttx", `native-${platformTriple()}`);
    expect(readdirSync(join(platform, "licenses/rocksdb")).sort()).toEqual([
      "COPYING",
      "LICENSE.Apache",
      "LICENSE.leveldb",
    ]);
    const manifest = JSON.parse(readFileSync(join(platform, "package.json"), "utf8"));
    expect(manifest).toMatchObject({ os: [process.platform], cpu: [process.arch] });
    const loader = JSON.parse(
      readFileSync(join(project, "node_modules/@agenttx/native/package.json"), "utf8"),
    );
    expect(loader.optionalDependencies).toEqual({ [manifest.name]: manifest.version });
    expect(loader.version).toBe(manifest.version);
    rmSync(join(platform, "agenttx.node"));
    expect(() => run(process.execPath, [join(project, "out/storage.js")], project)).toThrow(
      /ADDON_NOT_FOUND/,
    );
  });
});
