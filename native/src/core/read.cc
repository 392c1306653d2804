// Owns reads of one key (S5, S6).
#include "batch_parts.h"
#include "overlay_entry.h"
#include "verbs.h"

namespace agenttx {
namespace {

Status ReadCommitted(Database* db, std::string_view ns, std::string_view key,
                     std::optional<std::string>* value, uint64_t* version) {
  std::string full_key = CommittedPrefix(ns);
  full_key.append(key);
  rocksdb::PinnableSlice bytes;
  bool found = false;
  value->reset();
  *version = 0;
  Status status = db->Get(kDefault, full_key, &bytes, &found);
  if (!status.ok() || !found) return status;
  CommittedValue committed;
  if (!DecodeCommittedValue(bytes.ToStringView(), &committed)) {
    return {Code::kStoreCorrupt, "A committed value of the store is damaged."};
  }
  *version = committed.version;
  value->emplace(committed.value);
  return status;
}

}  // namespace

Status CheckReadCount(const Transaction& tx, size_t new_keys) {
  if (new_keys == 0 || tx.reads.entries().size() + new_keys <= tx.state.keys_max) {
    return Status::Ok();
  }
  return {Code::kPayloadTooLarge, "The transaction may read " + std::to_string(tx.state.keys_max) +
                                      " keys; this read passes that. Nothing was changed."};
}

Status GetInTransaction(Database* db, const TransactionRef& tx, std::string_view key, bool validate,
                        std::optional<std::string>* value) {
  Status status = CheckKey(key);
  if (!status.ok()) return status;
  std::lock_guard<std::mutex> lock(tx->mutex);
  status = CheckHandle(db, *tx);
  if (!status.ok()) return status;
  if (tx->state.extent.overlay_keys > 0) {
    std::string full_key = OverlayPrefix(tx->name);
    full_key.append(key);
    rocksdb::PinnableSlice bytes;
    bool found = false;
    status = db->Get(kDefault, full_key, &bytes, &found);
    if (!status.ok()) return status;
    if (found) {
      OverlayEntry entry;
      if (!DecodeOverlayEntry(bytes.ToStringView(), &entry)) {
        return {Code::kStoreCorrupt, "An overlay entry of the store is damaged."};
      }
      value->reset();
      if (entry.kind == EntryKind::kValue) value->emplace(entry.value);
      return status;
    }
  }
  uint64_t version = 0;
  status = ReadCommitted(db, NamespaceOf(tx->name), key, value, &version);
  if (status.ok() && tx->reads.Find(key) == nullptr) status = CheckReadCount(*tx, 1);
  if (status.ok()) tx->reads.Remember(key, version, validate || tx->state.serializable);
  return status;
}

Status GetCommitted(Database* db, std::string_view ns, std::string_view key,
                    std::optional<std::string>* value, uint64_t* version) {
  Status status = CheckName(ns, {}, true);
  if (status.ok()) status = CheckKey(key);
  if (!status.ok()) return status;
  return ReadCommitted(db, ns, key, value, version);
}

void CountTouched(const TransactionRef& tx, uint64_t* read, uint64_t* written) {
  std::lock_guard<std::mutex> lock(tx->mutex);
  *read = tx->reads.entries().size();
  *written = tx->state.extent.overlay_keys;
}

}  // namespace agenttx
