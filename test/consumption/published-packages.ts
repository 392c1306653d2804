// Owns the list of packages that are published: every folder of packages/ that is not private and
// has a source, so that a new one joins by itself.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
}

export interface PublishedPackage {
  /** Folder name: `storage`. */
  readonly folder: string;
  readonly path: string;
  readonly manifest: Manifest;
}

export function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
}

export function publishedPackages(): PublishedPackage[] {
  const root = join(REPOSITORY, "packages");
  return readdirSync(root)
    .map((folder) => ({ folder, path: join(root, folder) }))
    .filter(({ path }) => existsSync(join(path, "package.json")) && existsSync(join(path, "src")))
    .map((found) => ({ ...found, manifest: readManifest(found.path) }))
    .filter(({ manifest }) => manifest.private !== true);
}

/** What a program may write after `import`: one name per entry point that is a module. */
export function importNames({ manifest }: PublishedPackage): string[] {
  return Object.entries(manifest.exports ?? { ".": null })
    .filter(([, target]) => typeof target !== "string")
    .map(([entry]) => manifest.name + entry.slice(1));
}

/** Files that a built package must have; those that are missing. */
export function missingBuild({ path, manifest }: PublishedPackage): string[] {
  return Object.values(manifest.exports ?? {})
    .flatMap((target) =>
      typeof target === "object" && target !== null ? Object.values(target) : [],
    )
    .filter((file): file is string => typeof file === "string")
    .filter((file) => !existsSync(join(path, file)));
}
