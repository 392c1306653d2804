// Owns the fork of a transaction (S12): a new one whose overlay equals the old one's at a snapshot.
// The old one is only read. Base versions and earlier reads come along, so that the new one
// conflicts with the same commits.
#include <unordered_map>

#include "attach.h"
#include "batch_parts.h"
#include "bytes.h"
#include "overlay_entry.h"
#include "verbs.h"

namespace agenttx {
namespace {

class ForkWork final : public NamedWork {
 public:
  ForkWork(Database* db, uint32_t step, const BeginOptions& options, Batch batch)
      : db_(db), step_(step), options_(options), batch_(std::move(batch)) {
    publishes = !batch_.store_audit.empty();
  }

  Status Prepare(Group* group) override {
    Status status = CheckNames();
    if (!status.ok()) return status;
    InitState();
    status = CollectUndo();
    if (status.ok()) status = CopyOverlay(group);
    if (status.ok()) status = CopyReads(group);
    if (status.ok()) status = ApplyNext(batch_, &state_);
    if (status.ok()) status = AddCommonParts(group, tx->name, batch_, &state_);
    // Both initial snapshots hold what was copied: a reset of the new one goes back to the fork.
    if (status.ok()) status = PutSnapshot(group, tx->name, 0, {state_.next_seq, state_.extent});
    if (status.ok()) status = PutSnapshot(group, tx->name, 1, {state_.next_seq, state_.extent});
    if (!status.ok()) return status;
    return PutHeader(group, tx->name, state_, payload());
  }

  void Install() noexcept override {
    const std::string_view payload_view = payload();
    tx->SetHeader(state_, &payload_view);
    tx->reads.Clear();
    tx->reads.LoadRecord(reads_seq_, reads_);
    tx->phase = Transaction::Phase::kOpen;
    db_->open_count.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  std::string_view payload() const { return batch_.payload.value_or(std::string_view()); }

  Status CheckNames() {
    Status status = LoadNamed(db_, tx.get(), &must_retry);
    if (!status.ok()) return status;
    rocksdb::PinnableSlice value;
    bool has_ended = false;
    status = db_->Get(kAuditFamily, ChainHeadKey(tx->name), &value, &has_ended);
    if (!status.ok()) return status;
    if (tx->phase == Transaction::Phase::kOpen || has_ended) {
      return {Code::kTransactionExists,
              "The name of the fork was used before; nothing was written."};
    }
    status = LoadNamed(db_, other.get(), &must_retry);
    if (!status.ok()) return status;
    if (other->phase != Transaction::Phase::kOpen) {
      other->phase = Transaction::Phase::kEnded;  // retired
      return {Code::kNotFound, "The transaction to fork from is not open; nothing was written."};
    }
    bool found = false;
    status = db_->Get(kSnapshots, SnapshotKey(other->name, step_), &value, &found);
    if (!status.ok()) return status;
    if (!found || !DecodeSnapshot(value.ToStringView(), &target_)) {
      return {Code::kSnapshotNotFound, "The transaction to fork from has no snapshot " +
                                           std::to_string(step_) + "; nothing was written."};
    }
    return status;
  }

  void InitState() {
    state_ = TransactionState();
    state_.incarnation = db_->incarnation();
    state_.bytes_max = options_.bytes_max;
    state_.keys_max = options_.keys_max;
    state_.serializable = options_.serializable;
    state_.base_commit = other->state.base_commit;
    state_.audit = EmptyChain(tx->name);
    undo_.clear();
  }

  // The oldest undo record of each key since the snapshot, as in a restore.
  Status CollectUndo() {
    KeyRange range{JournalKey(other->name, target_.seq),
                   PrefixEnd(TransactionPrefix('j', other->name))};
    Database::RangeIterator journal(db_, kSnapshots, std::move(range));
    for (journal->SeekToFirst(); journal->Valid(); journal->Next()) {
      UndoRecord undo;
      if (!DecodeUndoRecord(journal.value(), &undo)) {
        return {Code::kStoreCorrupt, "An undo record is damaged; nothing was written."};
      }
      std::optional<std::string> prior;
      if (undo.prior.has_value()) prior.emplace(*undo.prior);
      undo_.try_emplace(std::string(undo.key), std::move(prior));
    }
    return journal.status();
  }

  Status CopyOverlay(Group* group) {
    const std::string from_prefix = OverlayPrefix(other->name);
    const std::string to_prefix = OverlayPrefix(tx->name);
    Database::RangeIterator overlay(db_, kDefault, PrefixRange(from_prefix));
    for (overlay->SeekToFirst(); overlay->Valid(); overlay->Next()) {
      const std::string_view key = overlay.key().substr(from_prefix.size());
      std::string_view entry = overlay.value();
      if (const auto undo = undo_.find(std::string(key)); undo != undo_.end()) {
        if (!undo->second.has_value()) continue;
        entry = *undo->second;
      }
      Status status = Put(group, kDefault, to_prefix + std::string(key), entry);
      if (!status.ok()) return status;
      state_.extent.overlay_keys++;
      state_.extent.overlay_bytes += key.size() + entry.size() - kEntryHeaderBytes;
    }
    if (state_.extent.overlay_keys > state_.keys_max ||
        state_.extent.overlay_bytes > state_.bytes_max) {
      return {Code::kPayloadTooLarge, "The fork passes its own limits; nothing was written."};
    }
    return overlay.status();
  }

  Status CopyReads(Group* group) {
    reads_ = other->reads.EncodeBefore(target_.seq);
    if (reads_.empty()) return Status::Ok();
    state_.has_read_set = true;
    reads_seq_ = state_.next_seq++;
    return Put(group, kSnapshots, ReadSetKey(tx->name, reads_seq_), reads_);
  }

  Database* const db_;
  const uint32_t step_;
  const BeginOptions options_;
  const Batch batch_;
  SnapshotRecord target_;
  TransactionState state_;
  std::unordered_map<std::string, std::optional<std::string>> undo_;
  std::string reads_;
  uint64_t reads_seq_ = 0;
};

}  // namespace

Status ForkTransaction(Database* db, const TransactionName& from, uint32_t step,
                       const TransactionName& name, const BeginOptions& options,
                       std::string_view batch_bytes, TransactionRef* out) {
  Status status = CheckName(from.ns, from.id, false);
  if (status.ok()) status = CheckName(name.ns, name.id, false);
  if (status.ok() && from.ns != name.ns) {
    return {Code::kInvalidArgument, "A fork stays in its namespace; nothing was written."};
  }
  if (status.ok() && from.id == name.id) {
    return {Code::kTransactionExists, "A fork needs a name of its own; nothing was written."};
  }
  if (status.ok()) status = db->free_space->CheckForNewWork();
  Batch batch;
  if (status.ok()) status = DecodeFor("fork", kTakesHeader, batch_bytes, &batch);
  if (!status.ok()) return status;
  ForkWork work(db, step, options, std::move(batch));
  work.other_name = EncodeName(from.ns, from.id);
  status = RunNamed(db, EncodeName(name.ns, name.id), &work);
  if (status.ok()) *out = work.tx;
  return status;
}

}  // namespace agenttx
