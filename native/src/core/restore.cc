// Owns going back to a snapshot (S4): one batch.
// Q1 The oldest undo record of each key decides (J1, J2), so the scan goes forward and skips keys
//    that it has seen: as many writes as keys, however often they were written.
//    Back to an empty overlay it is one range, whatever the number of keys.
// Q2 What is newer than the target goes in the same batch: undo records, snapshots (1 too, when 0
// is
//    restored), outputs, reads (R2 of read_set.h). The target stays and can be restored again.
// Q3 Of the header only the newest snapshot changes by itself; the other numbers when `next` says.
#include "batch_parts.h"
#include "bytes.h"
#include "key_set.h"
#include "outputs.h"
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
    target_seq_ = target.seq;
    result_.writes_reverted = state_.extent.write_count - target.extent.write_count;
    state_.extent = target.extent;
    state_.snapshot = step_;
    status = ClearSharedOutputs(group, tx->name, batch_, step_);
    if (status.ok()) status = AddCommonParts(group, tx->name, batch_, &state_);
    if (status.ok()) status = ApplyNext(batch_, &state_);
    if (status.ok() && batch_.snapshot.has_value()) {
      status = TakeSnapshot(group, tx->name, *batch_.snapshot, &state_);
    }
    if (!status.ok()) return status;
    return PutHeader(group, tx->name, state_, batch_.payload.value_or(tx->payload));
  }

  void Install() noexcept override {
    const std::string_view payload = batch_.payload.value_or(std::string_view());
    tx->journaled = {};
    tx->reads.ForgetFrom(target_seq_);
    tx->SetHeader(state_, batch_.payload.has_value() ? &payload : nullptr);
  }

  const RestoreResult& result() const { return result_; }

 private:
  Status ReadTarget(SnapshotRecord* target) {
    rocksdb::PinnableSlice value;
    bool found = false;
    Status status = db_->Get(kSnapshots, SnapshotKey(tx->name, step_), &value, &found);
    if (!status.ok()) return status;
    if (!found) {
      return {Code::kSnapshotNotFound,
              "There is no snapshot " + std::to_string(step_) + "; nothing was changed."};
    }
    // One that is ahead of the transaction cannot be one of its past.
    if (!DecodeSnapshot(value.ToStringView(), target) || target->seq > state_.next_seq ||
        target->extent.journal_records > state_.extent.journal_records) {
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
    // Numbers may have gaps, so this is the most that the ranges of steps below hold.
    const uint64_t step_count = state_.snapshot > step_ ? state_.snapshot - step_ : 0;
    if (step_count > 0) {
      const std::string prefix = TransactionPrefix('m', tx->name);
      status = RemoveRange(group, kSnapshots, {SnapshotKey(tx->name, step_ + 1), PrefixEnd(prefix)},
                           step_count);
    }
    // The target now stands behind the records that were removed: the next restore to it does not
    // walk over what is left of them.
    if (status.ok()) {
      status = PutSnapshot(group, tx->name, step_,
                           {state_.next_seq, target.extent, target.output_entry});
    }
    if (status.ok() && (state_.spaces & (1u << static_cast<uint8_t>(RecordSpace::kOutput)))) {
      KeyRange range = PrefixRange(OutputPrefix(tx->name));
      AppendU32(&range.begin, step_);
      status = RemoveRange(group, kDefault, std::move(range), step_count);
    }
    const size_t read_records = tx->reads.CountRecordsFrom(target.seq);
    if (status.ok() && read_records > 0) {
      KeyRange range{ReadSetKey(tx->name, target.seq), PrefixEnd(TransactionPrefix('v', tx->name))};
      status = RemoveRange(group, kSnapshots, std::move(range), read_records);
    }
    return status;
  }

  Database* const db_;
  const uint32_t step_;
  const Batch batch_;
  TransactionState state_;
  uint64_t target_seq_ = 0;  // of the target as it was before
  RestoreResult result_;
};

}  // namespace

Status RestoreSnapshot(Database* db, const TransactionRef& tx, uint32_t step,
                       std::string_view batch_bytes, RestoreResult* out) {
  Batch batch;
  Status status =
      DecodeFor("restore", kTakesHeader | kTakesFence | kTakesSnapshot, batch_bytes, &batch);
  if (!status.ok()) return status;
  RestoreWork work(db, tx, step, std::move(batch));
  status = db->writer->Run(&work);
  if (status.ok()) *out = work.result();
  return status;
}

}  // namespace agenttx
