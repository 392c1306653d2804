// Owns the anchor file; see anchor.h.
//   slot := "ATXA" format:u32 count:u64 commitVersion:u64 auditSeq:u64 auditHash:32 flags:u32
//           bootIdLength:u8 bootId:63 checksum:32        at offsets 0 and 512
#include "anchor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>

#include "bytes.h"

namespace agenttx {
namespace {

constexpr std::string_view kMagic = "ATXA";
constexpr uint32_t kFormat = 1;
constexpr size_t kBootIdBytes = 63;
constexpr size_t kBodyBytes = 4 + 4 + 8 + 8 + 8 + 32 + 4 + 1 + kBootIdBytes;
constexpr size_t kSlotBytes = kBodyBytes + 32;
constexpr off_t kSlotStride = 512;

std::string EncodeSlot(const AnchorState& state, uint64_t count) {
  std::string slot(kMagic);
  AppendU32(&slot, kFormat);
  AppendU64(&slot, count);
  AppendU64(&slot, state.commit_version);
  AppendU64(&slot, state.store_audit.seq);
  slot.append(AsBytes(state.store_audit.hash));
  AppendU32(&slot, state.sync_writes ? 1 : 0);
  const std::string boot_id = state.boot_id.substr(0, kBootIdBytes);
  AppendU8(&slot, static_cast<uint8_t>(boot_id.size()));
  slot.append(boot_id).append(kBootIdBytes - boot_id.size(), '\0');
  return slot.append(AsBytes(HashOf(slot)));
}

bool DecodeSlot(std::string_view slot, AnchorState* state, uint64_t* count) {
  const std::string_view body = slot.substr(0, kBodyBytes);
  const Digest expected = HashOf(body);
  if (slot.substr(kBodyBytes) != AsBytes(expected)) return false;
  ByteReader reader(body);
  if (reader.Take(4) != kMagic || reader.U32() != kFormat) return false;
  *count = reader.U64();
  state->commit_version = reader.U64();
  state->store_audit.seq = reader.U64();
  std::memcpy(state->store_audit.hash.data(), reader.Take(32).data(), 32);
  state->sync_writes = (reader.U32() & 1) != 0;
  const size_t boot_id_bytes = reader.U8();
  state->boot_id = std::string(reader.Take(kBootIdBytes).substr(0, boot_id_bytes));
  return true;
}

Status Failed(const std::string& path, const char* verb) {
  return {Code::kInternal,
          "Cannot " + std::string(verb) + " " + path + ": " + std::strerror(errno) + "."};
}

}  // namespace

Anchor::~Anchor() {
  if (fd_ >= 0) close(fd_);
}

Status Anchor::OpenFile() {
  if (fd_ < 0) fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  return fd_ < 0 ? Failed(path_, "open") : Status::Ok();
}

Status Anchor::Read(std::optional<AnchorState>* out) {
  out->reset();
  Status status = OpenFile();
  if (!status.ok()) return status;
  for (off_t slot_index = 0; slot_index < 2; slot_index++) {
    char bytes[kSlotBytes];
    const ssize_t got = pread(fd_, bytes, sizeof bytes, slot_index * kSlotStride);
    if (got < 0) return Failed(path_, "read");
    AnchorState state;
    uint64_t count = 0;
    if (static_cast<size_t>(got) != sizeof bytes ||
        !DecodeSlot({bytes, sizeof bytes}, &state, &count)) {
      continue;
    }
    if (out->has_value() && count <= write_count_) continue;
    write_count_ = count;
    *out = std::move(state);
  }
  return Status::Ok();
}

std::string Anchor::NextSlot(const AnchorState& state) const {
  return EncodeSlot(state, write_count_ + 1);
}

Status Anchor::WriteSlot(const std::string& slot, bool sync) {
  Status status = OpenFile();
  if (!status.ok()) return status;
  const uint64_t count = write_count_ + 1;
  const off_t at = static_cast<off_t>(count % 2) * kSlotStride;
  if (pwrite(fd_, slot.data(), slot.size(), at) != static_cast<ssize_t>(slot.size())) {
    return Failed(path_, "write");
  }
  write_count_ = count;
#if defined(__APPLE__)
  if (sync && fcntl(fd_, F_FULLFSYNC) != 0) return Failed(path_, "sync");
#else
  if (sync && fdatasync(fd_) != 0) return Failed(path_, "sync");
#endif
  return Status::Ok();
}

std::string BootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  // A stream turns it into a state; without the id the anchor would prove less.
  if (file.bad()) throw std::bad_alloc();
  return id;
}

AnchorVerdict CompareWithAnchor(const AnchorState& anchor, uint64_t commit_version,
                                const ChainHead& store_audit) {
  const bool rewritten =
      store_audit.seq == anchor.store_audit.seq && store_audit.hash != anchor.store_audit.hash;
  const bool behind =
      commit_version < anchor.commit_version || store_audit.seq < anchor.store_audit.seq;
  return behind || rewritten ? AnchorVerdict::kBehind : AnchorVerdict::kFine;
}

}  // namespace agenttx
