// Owns the entry point @agenttx/storage/conformance: every promise of the Store contract as a
// named claim. A driver is right when all of them hold.

import { auditClaims } from "./conformance/audit.js";
import { conflictClaims } from "./conformance/conflicts.js";
import { endingClaims } from "./conformance/ending.js";
import { fencingClaims } from "./conformance/fencing.js";
import { forkClaims } from "./conformance/fork.js";
import type { Claims, StoreFactory, TestFramework } from "./conformance/harness.js";
import { keyClaims } from "./conformance/keys.js";
import { lifecycleClaims } from "./conformance/lifecycle.js";
import { limitClaims } from "./conformance/limits.js";
import { readClaims } from "./conformance/reads.js";
import { recordClaims } from "./conformance/records.js";
import { scanClaims } from "./conformance/scans.js";
import { snapshotClaims } from "./conformance/snapshots.js";

const GROUPS: Readonly<Record<string, Claims>> = {
  "reads and isolation (S5)": readClaims,
  "keys (S1, S11)": keyClaims,
  "scans (S5)": scanClaims,
  "snapshots (S2, S3, S4)": snapshotClaims,
  "conflicts (S6-S8)": conflictClaims,
  "records (S1)": recordClaims,
  "commit and discard (S7)": endingClaims,
  "fencing (E6)": fencingClaims,
  "audit chains (C9)": auditClaims,
  "fork (S12)": forkClaims,
  "limits (S11)": limitClaims,
  "open, attach, reopen, close": lifecycleClaims,
};

/**
 * Declares the whole suite with the framework handed in, for example
 * `storeConformance({ describe, it, expect }, { name: "mine", open })` in a vitest file.
 * Every claim opens a store of its own and cleans it up, also when it fails.
 */
export function storeConformance(framework: TestFramework, factory: StoreFactory): void {
  framework.describe(`store contract: ${factory.name}`, () => {
    for (const [group, claims] of Object.entries(GROUPS)) {
      framework.describe(group, () => declare(framework, factory, claims));
    }
  });
}

function declare({ it, expect }: TestFramework, factory: StoreFactory, claims: Claims): void {
  for (const [title, proof] of Object.entries(claims)) {
    it(title, async () => {
      const opened = await factory.open();
      const restart = async () => {
        if (opened.reopen !== undefined) return opened.reopen();
        await opened.store.reopen();
        return opened.store;
      };
      try {
        await proof({ store: opened.store, expect, restart });
      } finally {
        await opened.cleanup();
      }
    });
  }
}

export type { Expect, StoreFactory, TestFramework } from "./conformance/harness.js";
