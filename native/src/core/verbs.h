// Owns the list of what can be done to a database; each verb is in the file of its name. All run
// inside the gate of an open database; names and ranges are checked by the verbs themselves.
// Contracts: agenttx/store.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agenttx/store.h"

namespace agenttx {

class Database;

// begin.cc
Status BeginTransaction(Database* db, const TransactionName& name, const BeginOptions& options,
                        std::string_view batch, TransactionRef* out);
// attach.cc
Status AttachTransaction(Database* db, const TransactionName& name, TransactionRef* out);
Status RequireOpen(Database* db, const TransactionName& name);  // kNotFound
Status ListOpenTransactions(Database* db, const std::optional<TransactionName>& after,
                            uint32_t limit, std::vector<OpenTransaction>* out);
Status BeginAttempt(Database* db, const TransactionRef& tx, uint64_t* attempt);
// fork.cc
Status ForkTransaction(Database* db, const TransactionName& from, uint32_t step,
                       const TransactionName& name, const BeginOptions& options,
                       std::string_view batch, TransactionRef* out);
// apply.cc, restore.cc, commit.cc, discard.cc
Status ApplyBatch(Database* db, const TransactionRef& tx, std::string_view batch, bool no_slowdown,
                  Done done);
Status RestoreSnapshot(Database* db, const TransactionRef& tx, uint32_t step,
                       std::string_view batch, RestoreResult* out);
Status CommitTransaction(Database* db, const TransactionRef& tx, std::string_view batch,
                         CommitResult* out);
Status DiscardTransaction(Database* db, const TransactionRef& tx, std::string_view batch);
// read.cc
// kPayloadTooLarge when the transaction may not remember so many keys more.
// REQUIRES: tx.mutex is held.
Status CheckReadCount(const Transaction& tx, size_t new_keys);
Status GetInTransaction(Database* db, const TransactionRef& tx, std::string_view key, bool validate,
                        std::optional<std::string>* value);
Status GetCommitted(Database* db, std::string_view ns, std::string_view key,
                    std::optional<std::string>* value, uint64_t* version);
void CountTouched(const TransactionRef& tx, uint64_t* read, uint64_t* written);
// scan.cc
Status ScanInTransaction(Database* db, const TransactionRef& tx, const Range& range,
                         std::vector<Entry>* out);
Status ScanCommitted(Database* db, std::string_view ns, const Range& range,
                     std::vector<Entry>* out);
// records.cc
Status ReadRecord(Database* db, const TransactionName& tx, RecordSpace space, uint32_t step,
                  uint64_t seq, std::string_view name, std::optional<std::string>* value);
Status ScanRecords(Database* db, const TransactionName& tx, bool all, RecordSpace space,
                   uint32_t from_step, const std::optional<RecordEntry>& after, uint32_t limit,
                   std::vector<RecordEntry>* out);
Status WriteRecords(Database* db, const TransactionName& tx, std::string_view batch);
Status ReadAudit(Database* db, const std::optional<TransactionName>& tx, uint64_t from_seq,
                 uint32_t limit, std::vector<AuditEntry>* out);
// maintenance.cc
Status CreateCheckpoint(Database* db, const std::string& path);
Status CollectStats(Database* db, Stats* out);

// Answers of scans stop after this many bytes; the caller goes on after the last key.
inline constexpr size_t kScanBytesMax = 16u << 20;

}  // namespace agenttx
