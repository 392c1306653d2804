// Owns the values of overlay entries, committed values and undo records; see overlay_entry.h.
#include "overlay_entry.h"

#include "bytes.h"

namespace agenttx {

EntryHeader EncodeEntryHeader(EntryKind kind, uint64_t base) {
  EntryHeader header;
  header.bytes[0] = static_cast<char>(kind);
  StoreU64(header.bytes + 1, base);
  return header;
}

bool DecodeOverlayEntry(std::string_view bytes, OverlayEntry* out) {
  ByteReader reader(bytes);
  const uint8_t kind = reader.U8();
  out->kind = static_cast<EntryKind>(kind);
  out->base = reader.U64();
  out->value = reader.rest();
  if (reader.failed()) return false;
  return kind == static_cast<uint8_t>(EntryKind::kValue) ||
         (kind == static_cast<uint8_t>(EntryKind::kTombstone) && out->value.empty());
}

bool DecodeCommittedValue(std::string_view bytes, CommittedValue* out) {
  ByteReader reader(bytes);
  out->version = reader.U64();
  out->value = reader.rest();
  return !reader.failed();
}

bool DecodeUndoRecord(std::string_view bytes, UndoRecord* out) {
  ByteReader reader(bytes);
  const uint8_t present = reader.U8();
  out->key = reader.Sized();
  out->prior.reset();
  if (present == 1) out->prior = reader.rest();
  return !reader.failed() && present <= 1 && (present == 1 || reader.at_end());
}

std::string EncodeUndoHeader(std::string_view key, bool has_prior) {
  std::string header;
  header.reserve(5 + key.size());
  AppendU8(&header, has_prior ? 1 : 0);
  AppendSized(&header, key);
  return header;
}

}  // namespace agenttx
