// Owns the version this build reports: the one of its package.

import { readFileSync } from "node:fs";

const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};

export const VERSION = manifest.version;
