// Owns the face of the core: everything the addon may call. No RocksDB and no Node type appears.
// Thread rules: every method may be called from any thread. Calls on one TransactionRef are
// serialised inside. Views passed in need to live for the call only; strings returned are owned.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agenttx/batch_format.h"
#include "agenttx/status.h"

namespace agenttx {

struct StoreOptions {
  std::string path;
  bool sync_writes = false;
  bool salvage = false;
  uint64_t free_space_reserve_bytes = 64ull << 20;
  uint64_t block_cache_bytes = 64ull << 20;
  uint64_t write_buffer_bytes = 64ull << 20;
};

struct Header {
  uint64_t incarnation = 0;
  uint64_t owner = 1;
  uint64_t attempt = 0;
  uint32_t step = 1;      // expected step
  uint32_t snapshot = 1;  // newest snapshot
  std::string payload;
};

struct BeginOptions {
  bool serializable = false;
  uint64_t bytes_max = 1ull << 30;
  uint64_t keys_max = 1'000'000;
  bool no_slowdown = false;  // as for Apply
};

struct TransactionName {
  std::string ns;
  std::string id;
};

struct RestoreResult {
  uint64_t writes_reverted = 0;
  uint64_t keys_restored = 0;
};

struct CommitResult {
  uint64_t commit_version = 0;
  uint64_t keys_published = 0;
  // Filled with Code::kWriteConflict; the first 1,000.
  std::vector<std::string> conflict_keys;
};

struct Range {
  std::optional<std::string> start;  // included
  std::optional<std::string> end;    // excluded
  bool reverse = false;
  uint32_t limit = 1000;
};

struct Entry {
  std::string key;
  std::string value;
};

struct RecordEntry {
  std::string tx;
  uint32_t step = 0;
  uint64_t seq = 0;
  std::string name;
  std::string value;
};

struct AuditEntry {
  uint64_t seq = 0;
  std::string payload;
  std::string hash;    // 32 bytes, over the hash before, the number and the digest
  std::string digest;  // 32 bytes, SHA-256 of the payload; stays when the payload is erased
};

struct OpenTransaction {
  TransactionName name;
  Header header;
};

struct Stats {
  uint64_t commit_version = 0;
  uint64_t open_transactions = 0;
  std::string poisoned;  // empty = healthy
  uint64_t wal_syncs = 0;
  uint64_t batches = 0;
  uint64_t disk_bytes = 0;
  uint64_t memory_bytes = 0;
};

class Transaction;
using TransactionRef = std::shared_ptr<Transaction>;

// Completion of a batch on a store with sync_writes; called once from the writer thread.
using Done = std::function<void(Status)>;

class Store {
 public:
  // Opens or creates. kStoreLocked: another process has it. kFormatTooNew, kStoreCorrupt,
  // kStoreBehindAnchor: nothing was changed. One process may open a path several times: all share
  // one database, closed with the last.
  static Status Open(const StoreOptions& options, std::shared_ptr<Store>* out);
  virtual ~Store() = default;

  virtual uint64_t incarnation() const = 0;
  virtual bool sync_writes() const = 0;
  virtual std::vector<std::string> warnings() const = 0;

  // `batch` may hold records, audit, a payload and next. Writes t/, m/0 and m/1. Names are used
  // once: kTransactionExists also for one that has ended, until its chain is erased (kChainErase).
  virtual Status Begin(const TransactionName& name, const BeginOptions& options,
                       std::string_view batch, TransactionRef* out) = 0;
  virtual Status Attach(const TransactionName& name, TransactionRef* out) = 0;
  virtual Status Fork(const TransactionName& from, uint32_t step, const TransactionName& name,
                      const BeginOptions& options, std::string_view batch, TransactionRef* out) = 0;
  // Claims an open transaction for this opening of the store. `*is_ours` is false when another one
  // of this process has it and `takes_over` is not set. Begin and Fork claim; commit, discard and
  // closing release. kNotFound: it is not open.
  virtual Status Claim(const TransactionName& name, bool takes_over, bool* is_ours) = 0;
  // A lock by name among all openings of the folder in this process. `*token` is 0 when it is
  // taken, also by this opening; a reopen and closing free it. Never waits.
  virtual Status TryLock(const std::string& name, uint64_t* token) = 0;
  virtual void Unlock(const std::string& name, uint64_t token) = 0;
  virtual Status OpenTransactions(const std::optional<TransactionName>& after, uint32_t limit,
                                  std::vector<OpenTransaction>* out) = 0;

  // Never waits for a write in progress.
  virtual Header GetHeader(const TransactionRef& tx) = 0;
  // Raises the attempt and returns it. It is in memory until the next batch of the transaction:
  // after a restart the handle itself is stale, so a reused number cannot be mistaken.
  virtual Status BeginAttempt(const TransactionRef& tx, uint64_t* attempt) = 0;
  virtual Status Get(const TransactionRef& tx, std::string_view key, bool validate,
                     std::optional<std::string>* value) = 0;
  // Entries of committed state that it returns count as read, like those of Get (S6).
  // Stops at the limit or after about 16 MiB, whichever comes first: a caller that wants all goes
  // on behind the last key (before it in reverse) until the answer is empty. So do all scans here.
  virtual Status Scan(const TransactionRef& tx, const Range& range, std::vector<Entry>* out) = 0;

  // Applies one batch atomically. `done` (may be empty) is called exactly once in every case.
  // Without sync_writes the batch is done when the call returns: `done` was called with the same
  // status. With sync_writes OK means queued, and `done` is called from the writer thread after the
  // shared fsync; an error means refused before it was queued, and `done` was called with it.
  // `no_slowdown`: kResourceExhausted instead of blocking when RocksDB would stall; nothing was
  // written and the caller repeats it off the main thread.
  virtual Status Apply(const TransactionRef& tx, std::string_view batch, bool no_slowdown,
                       Done done) = 0;
  // Goes back to snapshot `step`: state, reads, outputs of `step` and later, newer snapshots (1 too
  // when 0 is restored). Owner, attempt and expected step change only when the batch says so
  // (kNext). A snapshot in the batch is taken afterwards.
  virtual Status Restore(const TransactionRef& tx, uint32_t step, std::string_view batch,
                         RestoreResult* out) = 0;
  // Restore, commit and discard take a fence, evidence, records and audit; restore a payload, next
  // and a snapshot too. kOutcomeUnknown: the write failed in the middle; the terminal record tells
  // after Reopen.
  virtual Status Commit(const TransactionRef& tx, std::string_view batch, CommitResult* out) = 0;
  virtual Status Discard(const TransactionRef& tx, std::string_view batch) = 0;
  virtual void Touched(const TransactionRef& tx, uint64_t* read, uint64_t* written) = 0;

  virtual Status GetCommitted(std::string_view ns, std::string_view key,
                              std::optional<std::string>* value, uint64_t* version) = 0;
  virtual Status ScanCommitted(std::string_view ns, const Range& range,
                               std::vector<Entry>* out) = 0;

  virtual Status ReadRecord(const TransactionName& tx, RecordSpace space, uint32_t step,
                            uint64_t seq, std::string_view name,
                            std::optional<std::string>* value) = 0;
  // tx.id empty and `all`: records of every transaction of the namespace.
  virtual Status ScanRecords(const TransactionName& tx, bool all, RecordSpace space,
                             uint32_t from_step, const std::optional<RecordEntry>& after,
                             uint32_t limit, std::vector<RecordEntry>* out) = 0;
  // Records and audit of a transaction that has ended, whose chain goes on, or of none (records
  // only). kInvalidArgument: it is open, and its records go through its handle, which is fenced.
  virtual Status WriteRecords(const TransactionName& tx, std::string_view batch) = 0;
  // tx empty optional: the store's own chain.
  virtual Status ReadAudit(const std::optional<TransactionName>& tx, uint64_t from_seq,
                           uint32_t limit, std::vector<AuditEntry>* out) = 0;

  virtual Status Checkpoint(const std::string& path) = 0;
  virtual Status GetStats(Stats* out) = 0;
  virtual Status Reopen() = 0;
  // Refuses new work, waits for work in flight. Idempotent.
  virtual Status Close() = 0;
};

}  // namespace agenttx
