// Owns what the verbs have in common: which parts of a batch a verb takes, the fence, records,
// audit entries, the end of a transaction.
#pragma once

#include <string_view>

#include "batch_decoder.h"
#include "database.h"
#include "work.h"

namespace agenttx {

enum BatchParts : uint32_t {
  kTakesWrites = 1,     // kPut, kDelete
  kTakesHeader = 2,     // kPayload, kNext
  kTakesFence = 4,      // kFence, kEvidence
  kTakesErase = 8,      // kChainErase
  kTakesSnapshot = 16,  // kSnapshot
  kTakesStamp = 32,     // kRecordStamped
};

// Decodes and refuses (kInvalidArgument) parts that the verb `verb_name` does not take. Records and
// audit entries are taken by all.
Status DecodeFor(const char* verb_name, uint32_t parts, std::string_view bytes, Batch* out);

// OK when the handle is of this opening of the store and the transaction is open.
// REQUIRES: tx->mutex is held.
Status CheckHandle(Database* db, const Transaction& tx);

// kStaleOwner, kStaleAttempt or kStepOutOfOrder when the batch has a fence that does not match.
Status CheckFence(const TransactionState& state, const Batch& batch);
// Checks the fence; on a mismatch with evidence, adds the l/ record alone (E6), under the next
// number of the transaction, and puts the refusal into `*outcome`. `*refused`: the work is to add
// nothing else.
Status FenceOrEvidence(Group* group, std::string_view tx_name, const TransactionState& state,
                       const Batch& batch, Status* outcome, bool* refused);

Status ApplyNext(const Batch& batch, TransactionState* state);

// All but `left_out`, which may be null.
Status AddRecords(Group* group, std::string_view tx_name, const Batch& batch, uint32_t* spaces,
                  const RecordWrite* left_out = nullptr);
Status AddAudit(Group* group, std::string_view tx_name, const Batch& batch, ChainHead* chain);
// REQUIRES: the work publishes.
Status AddStoreAudit(Group* group, const Batch& batch);
// Records but `left_out`, both audit chains.
Status AddCommonParts(Group* group, std::string_view tx_name, const Batch& batch,
                      TransactionState* state, const RecordWrite* left_out = nullptr);

Status PutHeader(Group* group, std::string_view tx_name, const TransactionState& state,
                 std::string_view payload);
Status PutSnapshot(Group* group, std::string_view tx_name, uint32_t step,
                   const SnapshotRecord& snapshot);
// Takes snapshot `step` of `state` and makes it the newest one. kInvalidArgument: not above it
// (S3).
Status TakeSnapshot(Group* group, std::string_view tx_name, uint32_t step, TransactionState* state);
// As TakeSnapshot, after a step. `moves_header`: the record holds the header's numbers too, in the
// place of PutHeader (H1). `output_entry`: see SnapshotRecord.
// REQUIRES: nothing changes `state` afterwards.
Status TakeStepSnapshot(Group* group, std::string_view tx_name, uint32_t step, bool moves_header,
                        uint64_t output_entry, TransactionState* state);

// Short forms: a batch operation in a family of the group's database.
Status Put(Group* group, Family family, std::string_view key, std::string_view value);
Status Delete(Group* group, Family family, std::string_view key);

}  // namespace agenttx
