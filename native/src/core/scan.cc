// Owns range scans (S5): bounded by a limit and by bytes.
#include "batch_parts.h"
#include "merge_iterator.h"
#include "verbs.h"

namespace agenttx {
namespace {

// `versions` (may be null) takes the commit version of each entry, none for those of the overlay.
Status Collect(MergeIterator* entries, uint32_t limit, std::vector<Entry>* out,
               std::vector<std::optional<uint64_t>>* versions) {
  size_t byte_count = 0;
  while (out->size() < limit && byte_count < kScanBytesMax && entries->Next()) {
    byte_count += entries->key().size() + entries->value().size();
    out->push_back({std::string(entries->key()), std::string(entries->value())});
    if (versions != nullptr) versions->push_back(entries->version());
  }
  return entries->status();
}

// Entries of committed state that were returned are reads like those of single keys (S6).
Status RememberReads(Transaction* tx, const std::vector<Entry>& entries,
                     const std::vector<std::optional<uint64_t>>& versions) {
  size_t new_keys = 0;
  for (size_t i = 0; i < entries.size(); i++) {
    if (versions[i].has_value() && tx->reads.Find(entries[i].key) == nullptr) new_keys++;
  }
  Status status = CheckReadCount(*tx, new_keys);
  if (!status.ok()) return status;
  for (size_t i = 0; i < entries.size(); i++) {
    if (versions[i].has_value()) tx->reads.Remember(entries[i].key, *versions[i], false);
  }
  return status;
}

}  // namespace

Status ScanInTransaction(Database* db, const TransactionRef& tx, const Range& range,
                         std::vector<Entry>* out) {
  out->clear();
  std::lock_guard<std::mutex> lock(tx->mutex);
  Status status = CheckHandle(db, *tx);
  if (!status.ok()) return status;
  if (tx->state.serializable) {
    return {Code::kScanNotSerializable,
            "A serializable transaction cannot scan: only single reads are validated at commit."};
  }
  const std::string overlay_prefix = OverlayPrefix(tx->name);
  const bool has_overlay = tx->state.extent.overlay_keys > 0;
  MergeIterator entries(db, has_overlay ? &overlay_prefix : nullptr,
                        CommittedPrefix(NamespaceOf(tx->name)), range);
  std::vector<std::optional<uint64_t>> versions;
  status = Collect(&entries, range.limit, out, &versions);
  return status.ok() ? RememberReads(tx.get(), *out, versions) : status;
}

Status ScanCommitted(Database* db, std::string_view ns, const Range& range,
                     std::vector<Entry>* out) {
  out->clear();
  Status status = CheckName(ns, {}, true);
  if (!status.ok()) return status;
  MergeIterator entries(db, nullptr, CommittedPrefix(ns), range);
  return Collect(&entries, range.limit, out, nullptr);
}

}  // namespace agenttx
