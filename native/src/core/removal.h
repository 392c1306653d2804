// Owns how a range of keys leaves the store.
// V1 Small ranges go key by key, large ones by one range deletion. Each range deletion in a
// memtable
//    slows the reads of its family; point deletions cost about half a put each. kRangeDeletionMin
//    is where the range deletion has paid for itself (figures in removal.cc).
#pragma once

#include "database.h"
#include "work.h"

namespace agenttx {

inline constexpr uint64_t kRangeDeletionMin = 512;

enum class RemovalKind { kDelete, kSingleDelete };

inline bool WantsRangeDeletion(uint64_t key_count) { return key_count >= kRangeDeletionMin; }

Status RemoveKey(Group* group, Family family, std::string_view key, RemovalKind kind);
Status RemoveRangeAtOnce(Group* group, Family family, const KeyRange& range);
// Looks the keys up and removes each. For ranges whose size is not known: few keys are expected.
Status RemoveEach(Group* group, Family family, KeyRange range,
                  RemovalKind kind = RemovalKind::kDelete);

// One or the other, by how many keys the range is likely to hold.
Status RemoveRange(Group* group, Family family, KeyRange range, uint64_t count_hint,
                   RemovalKind kind = RemovalKind::kDelete);

// What commit and discard take from the store: overlay, journal, snapshots, read sets, outputs and
// the header. Other records stay.
Status RemoveTransaction(Group* group, std::string_view name, const TransactionState& state,
                         bool overlay_is_removed);

}  // namespace agenttx
