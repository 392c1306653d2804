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

Status RemoveRange(Group* group, Family family, KeyRange range, uint64_t count_hint,
                   RemovalKind kind) {
  return WantsRangeDeletion(count_hint) ? RemoveRangeAtOnce(group, family, range)
                                        : RemoveEach(group, family, std::move(range), kind);
}

Status RemoveTransaction(Group* group, std::string_view name, const TransactionState& state,
                         bool overlay_is_removed) {
  const Extent& extent = state.extent;
  Status status;
  if (!overlay_is_removed && extent.overlay_keys > 0) {
    status = RemoveRange(group, kDefault, PrefixRange(OverlayPrefix(name)), extent.overlay_keys);
  }
  if (status.ok() && extent.journal_records > 0) {
    status = RemoveRange(group, kSnapshots, PrefixRange(TransactionPrefix('j', name)),
                         extent.journal_records, RemovalKind::kSingleDelete);
  }
  if (status.ok()) {
    status =
        RemoveRange(group, kSnapshots, PrefixRange(TransactionPrefix('m', name)), state.snapshot);
  }
  if (status.ok() && state.has_read_set) {
    status =
        RemoveRange(group, kSnapshots, PrefixRange(TransactionPrefix('v', name)), state.snapshot);
  }
  if (status.ok() && HasSpace(state, RecordSpace::kOutput)) {
    status = RemoveRange(group, kDefault, PrefixRange(OutputPrefix(name)), state.snapshot);
  }
  if (!status.ok()) return status;
  return Delete(group, kSnapshots, HeaderKey(name));
}

}  // namespace agenttx
