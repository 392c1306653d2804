// Owns the merge of an overlay over committed state; see merge_iterator.h.
#include "merge_iterator.h"

namespace agenttx {

MergeIterator::MergeIterator(Database* db, const std::string* overlay_prefix,
                             const std::string& committed_prefix, const Range& range)
    : reverse_(range.reverse) {
  if (overlay_prefix != nullptr) Open(&overlay_, db, *overlay_prefix, range);
  Open(&committed_, db, committed_prefix, range);
}

void MergeIterator::Open(Side* side, Database* db, const std::string& prefix, const Range& range) {
  KeyRange bounds = PrefixRange(prefix);
  if (range.start.has_value()) bounds.begin = prefix + *range.start;
  if (range.end.has_value()) bounds.end = prefix + *range.end;
  if (bounds.begin >= bounds.end) return;  // an empty range
  side->prefix_bytes = prefix.size();
  side->iterator = std::make_unique<Database::RangeIterator>(db, kDefault, std::move(bounds));
  if (reverse_) {
    (*side->iterator)->SeekToLast();
  } else {
    (*side->iterator)->SeekToFirst();
  }
}

void MergeIterator::Advance(Side* side) {
  if (reverse_) {
    (*side->iterator)->Prev();
  } else {
    (*side->iterator)->Next();
  }
}

bool MergeIterator::Next() {
  for (;;) {
    if (on_overlay_) Advance(&overlay_);
    if (on_committed_) Advance(&committed_);
    on_overlay_ = on_committed_ = false;
    for (const Side* side : {&overlay_, &committed_}) {
      if (side->iterator == nullptr || side->valid()) continue;
      status_ = side->iterator->status();
      if (!status_.ok()) return false;
    }
    if (!overlay_.valid() && !committed_.valid()) return false;
    int order = overlay_.valid() ? -1 : 1;
    if (overlay_.valid() && committed_.valid()) {
      order = overlay_.key().compare(committed_.key());
      if (reverse_) order = -order;
    }
    on_overlay_ = order <= 0;
    on_committed_ = order >= 0;
    if (on_overlay_ ? TakeOverlay() : TakeCommitted()) return true;
    if (!status_.ok()) return false;
  }
}

bool MergeIterator::TakeOverlay() {
  OverlayEntry entry;
  if (!DecodeOverlayEntry(overlay_.iterator->value(), &entry)) {
    status_ = {Code::kStoreCorrupt, "An overlay entry of the store is damaged."};
    return false;
  }
  key_ = overlay_.key();
  version_.reset();
  value_ = entry.value;
  return entry.kind == EntryKind::kValue;
}

bool MergeIterator::TakeCommitted() {
  CommittedValue committed;
  if (!DecodeCommittedValue(committed_.iterator->value(), &committed)) {
    status_ = {Code::kStoreCorrupt, "A committed value of the store is damaged."};
    return false;
  }
  key_ = committed_.key();
  version_ = committed.version;
  value_ = committed.value;
  return true;
}

}  // namespace agenttx
