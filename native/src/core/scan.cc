// Owns range scans (S5): bounded by a limit and by bytes.
#include "batch_parts.h"
#include "merge_iterator.h"
#include "verbs.h"

namespace agenttx {
namespace {

Status Collect(MergeIterator* entries, uint32_t limit, std::vector<Entry>* out) {
  size_t byte_count = 0;
  while (out->size() < limit && byte_count < kScanBytesMax && entries->Next()) {
    byte_count += entries->key().size() + entries->value().size();
    out->push_back({std::string(entries->key()), std::string(entries->value())});
  }
  return entries->status();
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
  return Collect(&entries, range.limit, out);
}

Status ScanCommitted(Database* db, std::string_view ns, const Range& range,
                     std::vector<Entry>* out) {
  out->clear();
  Status status = CheckName(ns, {}, true);
  if (!status.ok()) return status;
  MergeIterator entries(db, nullptr, CommittedPrefix(ns), range);
  return Collect(&entries, range.limit, out);
}

}  // namespace agenttx
