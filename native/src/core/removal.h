// Owns how a range of keys leaves the store.
// V1 Small ranges go key by key, large ones by one range deletion. Undo records are written once
// and
//    go by SingleDelete; other keys may be written again and go by Delete.
//
// Measured on 2 cores (RocksDB 9.7.4, medians of 50 to 2,000 rounds in one memtable, at most 64
// range deletions in it): removing n keys, and the 20 gets and 2 iterators that follow, in
// microseconds.
//      n   Delete      SingleDelete  DeleteRange
//      8    7 + 10        8 + 12       3 + 22
//     64   39 + 25       40 + 25       3 + 24
//    256  158 + 64      155 + 64       3 + 35
//   1024  627 + 205     832 + 225      5 + 87
//   4096 2651 + 802    6228 + 790     13 + 277
// A range deletion pays for itself from about 24 keys on. The limit is higher, because a memtable
// is flushed after kRangeDeletionsMax of them (families.cc): small commits must not flush all the
// time.
#pragma once

#include "database.h"
#include "work.h"

namespace agenttx {

inline constexpr uint64_t kRangeDeletionMin = 256;

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
