// Owns the writes of a step; see journal.h.
#include "journal.h"

#include <new>

#include "batch_parts.h"
#include "bytes.h"
#include "overlay_entry.h"

namespace agenttx {
namespace {

// Beyond this many journaled keys of one interval memory forgets them; their next write costs a
// read and a record more, which a restore ignores (J2).
constexpr size_t kJournaledKeysMax = 65'536;

Status DamagedEntry() {
  return {Code::kStoreCorrupt, "An overlay entry of the store is damaged; nothing was written."};
}

}  // namespace

JournalStage::JournalStage(Group* group, Transaction* tx, TransactionState* state)
    : group_(group),
      tx_(tx),
      state_(state),
      overlay_prefix_(OverlayPrefix(tx->name)),
      committed_prefix_(CommittedPrefix(NamespaceOf(tx->name))) {}

Status JournalStage::Add(const StateWrite& write) {
  Prior prior;
  Status status = FindPrior(write.key, &prior);
  if (status.ok() && !prior.is_known) status = PutUndo(write.key, prior);
  if (status.ok()) status = PutEntry(write, prior.base);
  if (!status.ok()) return status;
  Extent& extent = state_->extent;
  extent.write_count++;
  if (prior.is_present) {
    extent.overlay_bytes -= prior.value_bytes;
  } else {
    extent.overlay_keys++;
    extent.overlay_bytes += write.key.size();
  }
  extent.overlay_bytes += write.value.size();
  staged_[write.key] = {prior.base, write.value.size()};
  return status;
}

Status JournalStage::FindPrior(std::string_view key, Prior* prior) {
  const JournaledKey* known = nullptr;
  if (const auto staged = staged_.find(key); staged != staged_.end()) {
    known = &staged->second;
  } else if (const auto journaled = tx_->journaled.find(key); journaled != tx_->journaled.end()) {
    known = &journaled->second;
  }
  if (known != nullptr) {
    prior->is_known = true;
    prior->is_present = true;
    prior->base = known->base;
    prior->value_bytes = known->value_bytes;
    return Status::Ok();
  }
  if (state_->extent.overlay_keys > 0) {
    std::string full_key = overlay_prefix_;
    full_key.append(key);
    Status status = group_->db->Get(kDefault, full_key, &prior->entry, &prior->is_present);
    if (!status.ok()) return status;
  }
  if (!prior->is_present) return FindBase(key, &prior->base);
  OverlayEntry entry;
  if (!DecodeOverlayEntry(prior->entry.ToStringView(), &entry)) return DamagedEntry();
  prior->base = entry.base;
  prior->value_bytes = entry.value.size();
  return Status::Ok();
}

Status JournalStage::FindBase(std::string_view key, uint64_t* base) {
  if (const ReadEntry* read = tx_->reads.Find(key); read != nullptr) {
    *base = read->version;
    return Status::Ok();
  }
  std::string full_key = committed_prefix_;
  full_key.append(key);
  rocksdb::PinnableSlice value;
  bool found = false;
  Status status = group_->db->Get(kDefault, full_key, &value, &found);
  if (!status.ok() || !found) return status;
  CommittedValue committed;
  if (!DecodeCommittedValue(value.ToStringView(), &committed)) {
    return {Code::kStoreCorrupt, "A committed value of the store is damaged; nothing was written."};
  }
  *base = committed.version;
  return status;
}

Status JournalStage::PutUndo(std::string_view key, const Prior& prior) {
  const std::string undo_key = JournalKey(tx_->name, state_->next_seq++);
  const std::string header = EncodeUndoHeader(key, prior.is_present);
  const rocksdb::Slice key_part = undo_key;
  const rocksdb::Slice value_parts[2] = {header, prior.entry};
  const int part_count = prior.is_present ? 2 : 1;
  state_->extent.journal_records++;
  return FromRocks(group_->batch.Put(group_->db->handle(kSnapshots),
                                     rocksdb::SliceParts(&key_part, 1),
                                     rocksdb::SliceParts(value_parts, part_count)));
}

Status JournalStage::PutEntry(const StateWrite& write, uint64_t base) {
  const EntryKind kind = write.is_tombstone ? EntryKind::kTombstone : EntryKind::kValue;
  const EntryHeader header = EncodeEntryHeader(kind, base);
  const rocksdb::Slice key_parts[2] = {overlay_prefix_, ToSlice(write.key)};
  const rocksdb::Slice value_parts[2] = {{header.bytes, kEntryHeaderBytes}, ToSlice(write.value)};
  return FromRocks(group_->batch.Put(group_->db->handle(kDefault),
                                     rocksdb::SliceParts(key_parts, 2),
                                     rocksdb::SliceParts(value_parts, 2)));
}

Status JournalStage::CheckLimits() const {
  const Extent& extent = state_->extent;
  if (extent.overlay_keys > state_->keys_max) {
    return {Code::kPayloadTooLarge, "The transaction may write " +
                                        std::to_string(state_->keys_max) +
                                        " keys; this batch passes that. Nothing was written."};
  }
  if (extent.overlay_bytes > state_->bytes_max) {
    return {Code::kPayloadTooLarge, "The transaction may write " +
                                        std::to_string(state_->bytes_max) +
                                        " bytes; this batch passes that. Nothing was written."};
  }
  return Status::Ok();
}

void JournalStage::Install(bool took_snapshot) noexcept {
  if (took_snapshot || tx_->journaled.size() + staged_.size() > kJournaledKeysMax) {
    if (!tx_->journaled.empty()) tx_->journaled = {};
    if (took_snapshot) return;
  }
  try {
    for (const auto& [key, journaled] : staged_) {
      tx_->journaled.insert_or_assign(std::string(key), journaled);
    }
  } catch (const std::bad_alloc&) {
    tx_->journaled = {};  // it can be lost (T1)
  }
}

}  // namespace agenttx
