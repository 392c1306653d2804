// Owns the commit of a transaction (S7): validated, published and cleaned up in one batch.
// M1 From validation to install the publish mutex is held: no other writer of committed state can
//    come in between. The read view is pinned after taking it.
// M2 A conflict writes nothing and lists the keys; first committer wins.
// M3 Every commit takes the next version; a version is never reused.
#include <unordered_map>
#include <unordered_set>

#include "batch_parts.h"
#include "bytes.h"
#include "overlay_entry.h"
#include "read_view.h"
#include "removal.h"
#include "verbs.h"

namespace agenttx {
namespace {

constexpr size_t kConflictKeysMax = 1000;

class CommitWork final : public Work {
 public:
  CommitWork(Database* db, TransactionRef transaction, Batch batch)
      : db_(db), batch_(std::move(batch)) {
    tx = std::move(transaction);
    publishes = true;
    write_failure = Code::kOutcomeUnknown;
  }

  Status Prepare(Group* group) override {
    Status status = CheckHandle(db_, *tx);
    if (!status.ok()) return status;
    bool refused = false;
    status = FenceOrEvidence(group, tx->name, tx->state, batch_, &outcome, &refused);
    if (!status.ok() || refused) return status;
    state_ = tx->state;
    committed_prefix_ = CommittedPrefix(NamespaceOf(tx->name));
    // Nothing was committed since this transaction first looked: every base version still holds.
    needs_validation_ = state_.base_commit != group->commit_version;
    version_ = group->commit_version + 1;
    const ReadView view(db_);
    status = PublishOverlay(group, view);
    if (status.ok() && needs_validation_) status = ValidateReads(group, view);
    if (!status.ok()) return status;
    if (!result_.conflict_keys.empty()) return Conflict();
    status = FinishBatch(group);
    if (!status.ok()) return status;
    group->commit_version = version_;
    group->state_changed = true;
    PublishToGroup(group);
    result_.commit_version = version_;
    return status;
  }

  void Install() noexcept override {
    for (const size_t hash : published_hashes_) db_->recent_commits.Add(hash, version_);
    tx->End();
    db_->open_count.fetch_sub(1, std::memory_order_relaxed);
  }

  CommitResult& result() { return result_; }

 private:
  // All of it or, when memory runs out, nothing: later works of the group compare with it.
  void PublishToGroup(Group* group) {
    group->published.reserve(group->published.size() + published_.size());
    while (!published_.empty()) {
      auto entry = published_.extract(published_.begin());
      const uint64_t version = entry.mapped();
      const auto added = group->published.insert(std::move(entry));
      if (!added.inserted) added.position->second = version;
    }
  }

  Status Conflict() const {
    return {Code::kWriteConflict,
            "Another transaction committed " + std::to_string(result_.conflict_keys.size()) +
                " key(s) first; nothing was written. Begin again from the current state."};
  }

  Status CurrentVersion(Group* group, const ReadView& view, const std::string& full_key,
                        uint64_t* version) {
    *version = 0;
    if (const auto found = group->published.find(full_key); found != group->published.end()) {
      *version = found->second;
      return Status::Ok();
    }
    bool found = false;
    Status status = db_->Get(kDefault, full_key, &value_, &found, view.get());
    if (!status.ok() || !found) return status;
    CommittedValue committed;
    if (!DecodeCommittedValue(value_.ToStringView(), &committed)) {
      return {Code::kStoreCorrupt, "A committed value is damaged; nothing was written."};
    }
    *version = committed.version;
    return status;
  }

  Status Validate(Group* group, const ReadView& view, std::string_view key, uint64_t base) {
    full_key_.assign(committed_prefix_).append(key);
    if (group->published.empty() &&
        db_->recent_commits.IsUntouchedSince(full_key_, state_.base_commit)) {
      return Status::Ok();
    }
    uint64_t version = 0;
    Status status = CurrentVersion(group, view, full_key_, &version);
    if (status.ok() && version != base && result_.conflict_keys.size() < kConflictKeysMax) {
      result_.conflict_keys.emplace_back(key);
    }
    return status;
  }

  // One pass over the overlay: validate, publish, and remove the entries of a small one.
  Status PublishOverlay(Group* group, const ReadView& view) {
    if (state_.extent.overlay_keys == 0) return Status::Ok();
    const std::string prefix = OverlayPrefix(tx->name);
    const bool at_once = WantsRangeDeletion(state_.extent.overlay_keys);
    Database::RangeIterator overlay(db_, kDefault, PrefixRange(prefix), view.get());
    for (overlay->SeekToFirst(); overlay->Valid(); overlay->Next()) {
      const std::string_view key = overlay.key().substr(prefix.size());
      OverlayEntry entry;
      if (!DecodeOverlayEntry(overlay.value(), &entry)) {
        return {Code::kStoreCorrupt, "An overlay entry is damaged; nothing was written."};
      }
      Status status;
      if (needs_validation_) status = Validate(group, view, key, entry.base);
      // After the first conflict only the list of keys matters.
      if (status.ok() && result_.conflict_keys.empty()) status = Publish(group, key, entry);
      if (status.ok() && !at_once && result_.conflict_keys.empty()) {
        status = RemoveKey(group, kDefault, overlay.key(), RemovalKind::kDelete);
      }
      if (!status.ok()) return status;
    }
    Status status = overlay.status();
    if (status.ok() && at_once) status = RemoveRangeAtOnce(group, kDefault, overlay.range());
    return status;
  }

  Status Publish(Group* group, std::string_view key, const OverlayEntry& entry) {
    const rocksdb::Slice key_parts[2] = {committed_prefix_, ToSlice(key)};
    const bool is_tombstone = entry.kind == EntryKind::kTombstone;
    result_.keys_published++;
    full_key_.assign(committed_prefix_).append(key);
    published_hashes_.push_back(RecentCommits::HashOf(full_key_));
    if (group->keeps_published) {
      published_.emplace(full_key_, is_tombstone ? 0 : version_);
    }
    if (is_tombstone) {
      // A base of 0 was validated: there is nothing to delete.
      if (entry.base == 0) return Status::Ok();
      return FromRocks(
          group->batch.Delete(db_->handle(kDefault), rocksdb::SliceParts(key_parts, 2)));
    }
    char version[8];
    StoreU64(version, version_);
    const rocksdb::Slice value_parts[2] = {{version, sizeof version}, ToSlice(entry.value)};
    return FromRocks(group->batch.Put(db_->handle(kDefault), rocksdb::SliceParts(key_parts, 2),
                                      rocksdb::SliceParts(value_parts, 2)));
  }

  Status ValidateReads(Group* group, const ReadView& view) {
    const std::unordered_set<std::string> listed(result_.conflict_keys.begin(),
                                                 result_.conflict_keys.end());
    for (const auto& [key, read] : tx->reads.entries()) {
      if (!read.is_validated && !state_.serializable) continue;
      if (listed.count(key) != 0) continue;  // written too, and in the list already
      Status status = Validate(group, view, key, read.version);
      if (!status.ok()) return status;
    }
    return Status::Ok();
  }

  // The cleanup comes before the records, so that what the caller adds survives it.
  Status FinishBatch(Group* group) {
    Status status = RemoveTransaction(group, tx->name, state_, true);
    if (status.ok() && (state_.spaces & (1u << static_cast<uint8_t>(RecordSpace::kSaga)))) {
      status = RemoveEach(group, kSagaLogs, PrefixRange(TransactionPrefix('u', tx->name)));
    }
    if (status.ok()) status = AddCommonParts(group, tx->name, batch_, &state_);
    if (status.ok()) status = AddStamped(group);
    if (!status.ok()) return status;
    return Put(group, kAuditFamily, ChainHeadKey(tx->name), EncodeChainHead(state_.audit));
  }

  // The version is known here alone, and has to be durable with the commit (P2).
  Status AddStamped(Group* group) {
    Status status;
    for (const RecordWrite& record : batch_.stamped) {
      std::string value;
      AppendU64(&value, version_);
      value.append(record.value);
      const std::string key =
          RecordKey(record.space, tx->name, record.step, record.seq, record.name);
      status = Put(group, FamilyOf(record.space), key, value);
      if (!status.ok()) break;
    }
    return status;
  }

  Database* const db_;
  const Batch batch_;
  TransactionState state_;
  CommitResult result_;
  std::string committed_prefix_;
  std::string full_key_;
  rocksdb::PinnableSlice value_;
  std::vector<size_t> published_hashes_;
  std::unordered_map<std::string, uint64_t> published_;  // for a group of several works
  uint64_t version_ = 0;
  bool needs_validation_ = true;
};

}  // namespace

Status CommitTransaction(Database* db, const TransactionRef& tx, std::string_view batch_bytes,
                         CommitResult* out) {
  Batch batch;
  Status status = DecodeFor("commit", kTakesFence | kTakesStamp, batch_bytes, &batch);
  if (!status.ok()) return status;
  CommitWork work(db, tx, std::move(batch));
  status = db->writer->Run(&work);
  if (status.ok()) db->transactions.Forget(tx.get());
  if (status.ok() || status.code() == Code::kWriteConflict) *out = std::move(work.result());
  return status;
}

}  // namespace agenttx
