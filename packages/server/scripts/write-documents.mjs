#!/usr/bin/env node
// Writes docs/openapi.json and the table in docs/server.md; run it after a change of the protocol or
// of the settings: `pnpm --filter @agenttx/server run documents`.
import { readFileSync, writeFileSync } from "node:fs";
import { between, openApiText, settingsTable } from "./documents.mjs";

const docs = new URL("../../../docs/", import.meta.url);
writeFileSync(new URL("openapi.json", docs), openApiText());
const page = new URL("server.md", docs);
writeFileSync(page, between(readFileSync(page, "utf8"), "settings", settingsTable()));
