// Owns the values of overlay entries, committed values and undo records (docs/formats.md).
//   overlay entry   := kind:u8 base:u64 bytes      kind 1 = value, 2 = tombstone (no bytes)
//   committed value := version:u64 bytes
//   undo record     := present:u8 keyLen:u32 key overlayEntry?   (the entry before the write)
// The base version of an entry never changes while the entry lives (S6).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agenttx {

// DO NOT CHANGE the values: they are on disk.
enum class EntryKind : uint8_t { kValue = 1, kTombstone = 2 };

struct OverlayEntry {
  EntryKind kind = EntryKind::kValue;
  uint64_t base = 0;
  std::string_view value;
};

struct CommittedValue {
  uint64_t version = 0;
  std::string_view value;
};

struct UndoRecord {
  std::string_view key;
  std::optional<std::string_view> prior;  // an encoded overlay entry
};

inline constexpr size_t kEntryHeaderBytes = 9;
// kind and base in front of the bytes of an overlay entry, without copying the bytes.
struct EntryHeader {
  char bytes[kEntryHeaderBytes];
};
EntryHeader EncodeEntryHeader(EntryKind kind, uint64_t base);

bool DecodeOverlayEntry(std::string_view bytes, OverlayEntry* out);
bool DecodeCommittedValue(std::string_view bytes, CommittedValue* out);
bool DecodeUndoRecord(std::string_view bytes, UndoRecord* out);
// Everything of an undo record in front of the prior entry's bytes.
std::string EncodeUndoHeader(std::string_view key, bool has_prior);

}  // namespace agenttx
