// Owns going back to a snapshot (S4): one batch.
// Q1 The oldest undo record of each key decides (J1, J2), so the scan goes forward and skips keys
//    that it has seen: as many writes as keys, however often they were written.
//    Back to an empty overlay it is one range, whatever the number of keys.
// Q2 What is newer than the target goes in the same batch: undo records, snapshots, outputs, read
//    sets. The target stays and can be restored again.
#include "batch_parts.h"
#include "bytes.h"
#include "key_set.h"
#include "overlay_entry.h"
#include "removal.h"
#include "verbs.h"

namespace agenttx {
namespace {

class RestoreWork final : public Work {
 public:
  RestoreWork(Database* db, TransactionRef transaction, uint32_t step, Batch batch)
      : db_(db), step_(step), batch_(std::move(batch)) {
    tx = std::move(transaction);
    publishes = !batch_.store_audit.empty();
  }

  Status Prepare(Group* group) override {
    Status status = CheckHandle(db_, *tx);
    if (!status.ok()) return status;
    bool refused = false;
    status = FenceOrEvidence(group, tx->name, tx->state, batch_, &outcome, &refused);
    if (!status.ok() || refused) return status;
    state_ = tx->state;
    SnapshotRecord target;
    status = ReadTarget(&target);
    if (status.ok()) status = PutBack(group, target);
    if (status.ok()) status = RemoveNewer(group, target);
    if (!status.ok()) return status;
    result_.writes_reverted = state_.extent.write_count - target.extent.write_count;
    state_.extent = target.extent;
    state_.snapshot = step_ > 0 ? step_ : 1;
    state_.step = first_step();
    status = AddCommonParts(group, tx->name, batch_, &state_);
    if (status.ok()) status = ApplyNext(batch_, &state_);
    if (!status.ok()) return status;
    return PutHeader(group, tx->name, state_, batch_.payload.value_or(tx->payload));
  }

  void Install() override {
    const std::string_view payload = batch_.payload.value_or(std::string_view());
    tx->journaled = {};
    tx->reads.ForgetFrom(first_step());
    tx->SetHeader(state_, batch_.payload.has_value() ? &payload : nullptr);
  }

  const RestoreResult& result() const { return result_; }

 private:
  // Step 0 is the initial state and owns no outputs of its own: what a fork put there stays.
  uint32_t first_step() const { return step_ > 0 ? step_ : 1; }

  Status ReadTarget(SnapshotRecord* target) {
    rocksdb::PinnableSlice value;
    bool found = false;
    Status status = db_->Get(kSnapshots, SnapshotKey(tx->name, step_), &value, &found);
    if (!status.ok()) return status;
    if (!found) {
      return {Code::kSnapshotNotFound,
              "There is no snapshot " + std::to_string(step_) + "; nothing was changed."};
    }
    if (!DecodeSnapshot(value.ToStringView(), target)) {
      return {Code::kStoreCorrupt, "A snapshot record is damaged; nothing was changed."};
    }
    return status;
  }

  Status PutBack(Group* group, const SnapshotRecord& target) {
    // Back to an empty overlay: nothing has to be put back, so nothing has to be looked at.
    if (target.extent.overlay_keys == 0 && WantsRangeDeletion(state_.extent.overlay_keys)) {
      return ClearOverlay(group, target);
    }
    const uint64_t record_count = state_.extent.journal_records - target.extent.journal_records;
    if (record_count == 0) return Status::Ok();
    const std::string overlay_prefix = OverlayPrefix(tx->name);
    const bool at_once = WantsRangeDeletion(record_count);
    KeyRange range{JournalKey(tx->name, target.seq), PrefixEnd(TransactionPrefix('j', tx->name))};
    KeySet seen(record_count);
    Database::RangeIterator journal(db_, kSnapshots, std::move(range));
    Status status;
    for (journal->SeekToFirst(); journal->Valid(); journal->Next()) {
      UndoRecord undo;
      if (!DecodeUndoRecord(journal.value(), &undo)) {
        return {Code::kStoreCorrupt, "An undo record is damaged; nothing was changed."};
      }
      if (seen.Insert(undo.key)) status = PutEntryBack(group, overlay_prefix, undo);
      if (status.ok() && !at_once) {
        status = RemoveKey(group, kSnapshots, journal.key(), RemovalKind::kSingleDelete);
      }
      if (!status.ok()) return status;
    }
    if (at_once) status = RemoveRangeAtOnce(group, kSnapshots, journal.range());
    result_.keys_restored = seen.size();
    return status.ok() ? journal.status() : status;
  }

  Status ClearOverlay(Group* group, const SnapshotRecord& target) {
    result_.keys_restored = state_.extent.overlay_keys;
    Status status = RemoveRangeAtOnce(group, kDefault, PrefixRange(OverlayPrefix(tx->name)));
    if (!status.ok()) return status;
    return RemoveRangeAtOnce(
        group, kSnapshots,
        {JournalKey(tx->name, target.seq), PrefixEnd(TransactionPrefix('j', tx->name))});
  }

  Status PutEntryBack(Group* group, const std::string& overlay_prefix, const UndoRecord& undo) {
    const rocksdb::Slice key[2] = {overlay_prefix, ToSlice(undo.key)};
    rocksdb::ColumnFamilyHandle* family = db_->handle(kDefault);
    if (!undo.prior.has_value()) {
      return FromRocks(group->batch.Delete(family, rocksdb::SliceParts(key, 2)));
    }
    const rocksdb::Slice entry = ToSlice(*undo.prior);
    return FromRocks(
        group->batch.Put(family, rocksdb::SliceParts(key, 2), rocksdb::SliceParts(&entry, 1)));
  }

  Status RemoveNewer(Group* group, const SnapshotRecord& target) {
    Status status;
    // Steps have no gaps, so this bounds what each of the ranges below holds.
    const uint64_t step_count = state_.snapshot > step_ ? state_.snapshot - step_ : 0;
    if (step_count > 0) {
      const std::string prefix = TransactionPrefix('m', tx->name);
      status = RemoveRange(group, kSnapshots, {SnapshotKey(tx->name, step_ + 1), PrefixEnd(prefix)},
                           step_count);
    }
    if (status.ok()) status = MoveTarget(group, target);
    if (status.ok() && (state_.spaces & (1u << static_cast<uint8_t>(RecordSpace::kOutput)))) {
      status = RemoveFromStep(group, kDefault, OutputPrefix(tx->name), step_count);
    }
    if (status.ok() && state_.has_read_set) {
      status = RemoveFromStep(group, kSnapshots, TransactionPrefix('v', tx->name), step_count);
    }
    return status;
  }

  // The target now stands behind the records that were removed: the next restore to it does not
  // walk over what is left of them.
  Status MoveTarget(Group* group, const SnapshotRecord& target) {
    Status status = PutSnapshot(group, tx->name, step_, state_.next_seq, target.extent);
    // Begin made snapshot 1 together with 0: step 1 has to find its own again.
    if (status.ok() && step_ == 0) {
      status = PutSnapshot(group, tx->name, 1, state_.next_seq, target.extent);
    }
    return status;
  }

  Status RemoveFromStep(Group* group, Family family, const std::string& prefix,
                        uint64_t count_hint) {
    KeyRange range{prefix, PrefixEnd(prefix)};
    AppendU32(&range.begin, first_step());
    return RemoveRange(group, family, std::move(range), count_hint);
  }

  Database* const db_;
  const uint32_t step_;
  const Batch batch_;
  TransactionState state_;
  RestoreResult result_;
};

}  // namespace

Status RestoreSnapshot(Database* db, const TransactionRef& tx, uint32_t step,
                       std::string_view batch_bytes, RestoreResult* out) {
  Batch batch;
  Status status = DecodeFor("restore", kTakesHeader | kTakesFence, batch_bytes, &batch);
  if (!status.ok()) return status;
  RestoreWork work(db, tx, step, std::move(batch));
  status = db->writer->Run(&work);
  if (status.ok()) *out = work.result();
  return status;
}

}  // namespace agenttx
