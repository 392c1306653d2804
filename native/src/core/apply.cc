// Owns one batch of a transaction: a step, an intent, a receipt. All of it in one write.
#include "batch_parts.h"
#include "journal.h"
#include "outputs.h"
#include "verbs.h"

namespace agenttx {
namespace {

class ApplyWork final : public Work {
 public:
  // `bytes` is what `batch` points into; a queued work owns it, an inline one borrows it.
  ApplyWork(Database* db, TransactionRef transaction, std::string owned_bytes)
      : db_(db), owned_bytes_(std::move(owned_bytes)) {
    tx = std::move(transaction);
  }

  Status Decode(std::string_view bytes) {
    constexpr uint32_t kParts = kTakesWrites | kTakesSnapshot | kTakesHeader | kTakesFence;
    Status status = DecodeFor("apply", kParts, bytes, &batch_);
    publishes = !batch_.store_audit.empty();
    return status;
  }
  std::string_view owned_bytes() const { return owned_bytes_; }

  Status Prepare(Group* group) override {
    Status status = CheckHandle(db_, *tx);
    if (!status.ok()) return status;
    bool refused = false;
    status = FenceOrEvidence(group, tx->name, tx->state, batch_, &outcome, &refused);
    if (!status.ok() || refused) return status;
    state_ = tx->state;
    if (!batch_.writes.empty()) {
      journal_.emplace(group, tx.get(), &state_);
      for (const StateWrite& write : batch_.writes) {
        status = journal_->Add(write);
        if (!status.ok()) return status;
      }
      status = journal_->CheckLimits();
      if (!status.ok()) return status;
    }
    status = AddReads(group);
    // A new payload has to reach t/; the engine's plain steps have none.
    const bool moves_header = batch_.snapshot.has_value() && !batch_.payload.has_value();
    const RecordWrite* shared = SharedOutput(batch_, state_.spaces);
    const uint64_t output_entry = shared == nullptr ? 0 : state_.audit.seq + 1;
    if (status.ok()) status = ClearSharedOutputs(group, tx->name, batch_, state_.snapshot);
    if (status.ok()) status = AddCommonParts(group, tx->name, batch_, &state_, shared);
    if (status.ok()) status = ApplyNext(batch_, &state_);
    if (status.ok() && batch_.snapshot.has_value()) {
      status =
          TakeStepSnapshot(group, tx->name, *batch_.snapshot, moves_header, output_entry, &state_);
    }
    if (!status.ok() || moves_header) return status;
    return PutHeader(group, tx->name, state_, batch_.payload.value_or(tx->payload));
  }

  void Install() noexcept override {
    const std::string_view payload = batch_.payload.value_or(std::string_view());
    if (journal_.has_value()) {
      journal_->Install(batch_.snapshot.has_value());
    } else if (batch_.snapshot.has_value() && !tx->journaled.empty()) {
      tx->journaled = {};
    }
    tx->reads.MarkSaved(reads_seq_);
    tx->SetHeader(state_, batch_.payload.has_value() ? &payload : nullptr);
  }

 private:
  // The versions that the step has seen, so that a resumed transaction still has them (S6). Before
  // the snapshot: a restore to it keeps them (R2, R3 of read_set.h).
  Status AddReads(Group* group) {
    if (!tx->reads.has_unsaved()) return Status::Ok();
    state_.has_read_set = true;
    reads_seq_ = state_.next_seq++;
    return Put(group, kSnapshots, ReadSetKey(tx->name, reads_seq_), tx->reads.EncodeUnsaved());
  }

  Database* const db_;
  const std::string owned_bytes_;
  Batch batch_;
  TransactionState state_;
  uint64_t reads_seq_ = 0;
  std::optional<JournalStage> journal_;
};

}  // namespace

Status ApplyBatch(Database* db, const TransactionRef& tx, std::string_view batch, bool no_slowdown,
                  Done done) {
  const bool is_queued = db->options().sync_writes;
  auto work = std::make_unique<ApplyWork>(db, tx, is_queued ? std::string(batch) : std::string());
  work->no_slowdown = no_slowdown;
  Status status = db->free_space->CheckForNewWork();
  if (status.ok()) status = work->Decode(is_queued ? work->owned_bytes() : batch);
  return status.ok() ? db->writer->Submit(std::move(work), std::move(done)) : status;
}

}  // namespace agenttx
