// Owns how a range of keys leaves the store; see removal.h.
#include "removal.h"

#include "batch_parts.h"

namespace agenttx {
namespace {

bool HasSpace(const TransactionState& state, RecordSpace space) {
  return (state.spaces & (1u << static_cast<uint8_t>(space))) != 0;
}

}  // namespace

Status RemoveKey(Group* group, Family family, std::string_view key, RemovalKind kind) {
  rocksdb::ColumnFamilyHandle* handle = group->db->handle(family);
  return FromRocks(kind == RemovalKind::kSingleDelete
                       ? group->batch.SingleDelete(handle, ToSlice(key))
                       : group->batch.Delete(handle, ToSlice(key)));
}

Status RemoveRangeAtOnce(Group* group, Family family, const KeyRange& range) {
  return FromRocks(group->batch.DeleteRange(group->db->handle(family), range.begin, range.end));
}

Status RemoveEach(Group* group, Family family, KeyRange range, RemovalKind kind) {
  Database::RangeIterator keys(group->db, family, std::move(range));
  for (keys->SeekToFirst(); keys->Valid(); keys->Next()) {
    Status status = RemoveKey(group, family, keys.key(), kind);
    if (!status.ok()) return status;
  }
  return keys.status();
}

Status RemoveTransaction(Group* group, std::string_view name, const TransactionState& state,
                         bool overlay_is_removed) {
  const Extent& extent = state.extent;
  Status status;
  if (!overlay_is_removed && extent.overlay_keys > 0) {
    KeyRange overlay = PrefixRange(OverlayPrefix(name));
    status = WantsRangeDeletion(extent.overlay_keys)
                 ? RemoveRangeAtOnce(group, kDefault, overlay)
                 : RemoveEach(group, kDefault, std::move(overlay));
  }
  if (status.ok() && extent.journal_records > 0) {
    KeyRange journal = PrefixRange(TransactionPrefix('j', name));
    status = WantsRangeDeletion(extent.journal_records)
                 ? RemoveRangeAtOnce(group, kSnapshots, journal)
                 : RemoveEach(group, kSnapshots, std::move(journal), RemovalKind::kSingleDelete);
  }
  if (status.ok()) {
    status = RemoveEach(group, kSnapshots, PrefixRange(TransactionPrefix('m', name)));
  }
  if (status.ok() && state.has_read_set) {
    status = RemoveEach(group, kSnapshots, PrefixRange(TransactionPrefix('v', name)));
  }
  if (status.ok() && HasSpace(state, RecordSpace::kOutput)) {
    status = RemoveEach(group, kDefault, PrefixRange(OutputPrefix(name)));
  }
  if (!status.ok()) return status;
  return Delete(group, kSnapshots, HeaderKey(name));
}

}  // namespace agenttx
