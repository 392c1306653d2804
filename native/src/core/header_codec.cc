// Owns the record of an open transaction and of a snapshot; see header_codec.h.
#include "header_codec.h"

#include <cstring>

#include "bytes.h"

namespace agenttx {
namespace {

constexpr uint8_t kHeaderFormat = 1;
constexpr uint8_t kSnapshotFormat = 2;
constexpr uint8_t kSnapshotFormatOld = 1;  // ends after the extent
constexpr size_t kHeaderBytes = 168;
constexpr size_t kSnapshotBytes = 49;  // without the numbers of the header
constexpr size_t kMovedBytes = 65;
constexpr size_t kDigestBytes = 32;

uint8_t FlagsOf(const TransactionState& state) {
  return static_cast<uint8_t>((state.serializable ? 1 : 0) | (state.has_read_set ? 2 : 0));
}

void SetFlags(uint8_t flags, TransactionState* state) {
  state->serializable = (flags & 1) != 0;
  state->has_read_set = (flags & 2) != 0;
}

void AppendExtent(std::string* out, const Extent& extent) {
  AppendU64(out, extent.write_count);
  AppendU64(out, extent.overlay_keys);
  AppendU64(out, extent.overlay_bytes);
  AppendU64(out, extent.journal_records);
}

Extent ReadExtent(ByteReader* reader) {
  Extent extent;
  extent.write_count = reader->U64();
  extent.overlay_keys = reader->U64();
  extent.overlay_bytes = reader->U64();
  extent.journal_records = reader->U64();
  return extent;
}

}  // namespace

std::string EncodeHeader(const TransactionState& state, std::string_view payload) {
  std::string out;
  out.reserve(kHeaderBytes + payload.size());
  AppendU8(&out, kHeaderFormat);
  AppendU8(&out, FlagsOf(state));
  AppendU32(&out, state.spaces);
  AppendU64(&out, state.incarnation);
  AppendU64(&out, state.owner);
  AppendU64(&out, state.attempt);
  AppendU32(&out, state.step);
  AppendU32(&out, state.snapshot);
  AppendU64(&out, state.next_seq);
  AppendExtent(&out, state.extent);
  AppendU64(&out, state.bytes_max);
  AppendU64(&out, state.keys_max);
  AppendU64(&out, state.base_commit);
  AppendU64(&out, state.audit.seq);
  out.append(AsBytes(state.audit.hash));
  return out.append(payload);
}

bool DecodeHeader(std::string_view bytes, TransactionState* state, std::string_view* payload) {
  ByteReader reader(bytes);
  if (reader.U8() != kHeaderFormat) return false;
  SetFlags(reader.U8(), state);
  state->spaces = reader.U32();
  state->incarnation = reader.U64();
  state->owner = reader.U64();
  state->attempt = reader.U64();
  state->step = reader.U32();
  state->snapshot = reader.U32();
  state->next_seq = reader.U64();
  state->extent = ReadExtent(&reader);
  state->bytes_max = reader.U64();
  state->keys_max = reader.U64();
  state->base_commit = reader.U64();
  state->audit.seq = reader.U64();
  const std::string_view hash = reader.Take(kDigestBytes);
  if (reader.failed()) return false;
  std::memcpy(state->audit.hash.data(), hash.data(), kDigestBytes);
  *payload = reader.rest();
  return true;
}

std::string EncodeSnapshot(const SnapshotRecord& snapshot, const TransactionState* moved) {
  std::string out;
  out.reserve(kSnapshotBytes + kMovedBytes);
  AppendU8(&out, kSnapshotFormat);
  AppendU64(&out, snapshot.seq);
  AppendExtent(&out, snapshot.extent);
  AppendU64(&out, snapshot.output_entry);
  if (moved == nullptr) return out;
  AppendU8(&out, FlagsOf(*moved));
  AppendU32(&out, moved->spaces);
  AppendU64(&out, moved->owner);
  AppendU64(&out, moved->attempt);
  AppendU32(&out, moved->step);
  AppendU64(&out, moved->audit.seq);
  out.append(AsBytes(moved->audit.hash));
  return out;
}

bool DecodeSnapshot(std::string_view bytes, SnapshotRecord* out) {
  ByteReader reader(bytes);
  const uint8_t format = reader.U8();
  out->seq = reader.U64();
  out->extent = ReadExtent(&reader);
  out->output_entry = 0;
  if (format == kSnapshotFormatOld) return !reader.failed() && reader.at_end();
  out->output_entry = reader.U64();
  if (format != kSnapshotFormat || reader.failed()) return false;
  return reader.at_end() || reader.rest().size() == kMovedBytes;
}

bool DecodeMovedState(std::string_view bytes, uint32_t step, TransactionState* state) {
  SnapshotRecord snapshot;
  if (!DecodeSnapshot(bytes, &snapshot) || bytes.size() != kSnapshotBytes + kMovedBytes) {
    return false;
  }
  ByteReader reader(bytes.substr(kSnapshotBytes));
  SetFlags(reader.U8(), state);
  state->spaces = reader.U32();
  state->owner = reader.U64();
  state->attempt = reader.U64();
  state->step = reader.U32();
  state->audit.seq = reader.U64();
  std::memcpy(state->audit.hash.data(), reader.Take(kDigestBytes).data(), kDigestBytes);
  state->snapshot = step;
  state->next_seq = snapshot.seq;
  state->extent = snapshot.extent;
  return true;
}

}  // namespace agenttx
