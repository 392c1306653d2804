// Owns the numbers that cross the boundary (native/include/agenttx/batch_format.h). The addon
// exports its own; `native.ts` refuses an addon whose numbers differ.

import type { RecordSpace } from "../contract.js";

export const BATCH_OP = {
  put: 1,
  delete: 2,
  recordPut: 3,
  recordDelete: 4,
  audit: 5,
  storeAudit: 6,
  payload: 7,
  fence: 8,
  next: 9,
  snapshot: 10,
  evidence: 11,
  chainErase: 12,
  recordStamped: 13,
} as const;

export const RECORD_SPACE = {
  output: 1,
  saga: 2,
  effect: 3,
  outbox: 4,
  request: 5,
  terminal: 6,
  late: 7,
  meta: 8,
} as const satisfies Record<RecordSpace, number>;
