#!/usr/bin/env node
// Owns the command `pnpm torture`. Suites are TypeScript and run from source: the loader turns one
// file at a time into JavaScript, so that nothing has to be built beside the packages.
//
//   pnpm torture                   every timed suite in turn, --minutes shared between them
//   pnpm torture <suite>           one; `pnpm torture list` names them
//   pnpm torture report FOLDER...  adds folders of results up: reported.json
//   --minutes N | --seconds N      how long (default 1 minute)
//   --seed S                       repeats a run (default: drawn and printed)
//   --resume                       goes on where the last run with this seed stopped, where it can
//   --json                         the last line is one object of each suite
import { register } from "node:module";

register("./typescript-loader.mjs", import.meta.url);
const { main } = await import("./main.ts");
process.exitCode = await main(process.argv.slice(2));
