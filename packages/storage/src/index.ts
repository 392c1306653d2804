// Owns the public list of @agenttx/storage. The reference store is @agenttx/storage/memory, the
// suite that every driver passes is @agenttx/storage/conformance.
export type {
  AuditEntry,
  BatchExtras,
  BeginOptions,
  Bytes,
  CommitBatch,
  CommitResult,
  EndedBatch,
  Fence,
  Key,
  NamespaceOption,
  OpenTransaction,
  ReadOptions,
  RecordEntry,
  RecordKey,
  RecordSpace,
  RecordWrite,
  RestoreOptions,
  RestoreResult,
  ScanEntry,
  ScanRange,
  StepBatch,
  Store,
  StoreStats,
  StoreTransaction,
  TransactionHeader,
  Write,
} from "./contract.js";
export type { StoreOptions } from "./options.js";
export { openStore } from "./rocks/open.js";
