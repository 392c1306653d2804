// Owns the anchor: a small file outside RocksDB that says how far the store had come when it last
// answered (S9b). RocksDB cannot notice that its newest log is gone or was cut; this can.
// N1 Two slots are written in turn, each with a checksum: a torn write leaves the other one.
// N2 Written after the WAL and before the answer. A store ahead of its anchor is normal (a crash in
//    between); a store behind it has lost something that was acknowledged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agenttx/status.h"
#include "audit_chain.h"

namespace agenttx {

struct AnchorState {
  uint64_t commit_version = 0;
  ChainHead store_audit;
  bool sync_writes = false;
  std::string boot_id;  // "" when the system has none
};

class Anchor {
 public:
  explicit Anchor(std::string path) : path_(std::move(path)) {}
  ~Anchor();
  Anchor(const Anchor&) = delete;
  Anchor& operator=(const Anchor&) = delete;

  // The newest intact slot; nothing when there is no anchor or no intact slot.
  Status Read(std::optional<AnchorState>* out);
  // The bytes of the next write. REQUIRES: Read was called.
  std::string NextSlot(const AnchorState& state) const;
  // Writes what NextSlot returned; takes no memory unless it fails. `sync`: on disk when it
  // returns.
  Status WriteSlot(const std::string& slot, bool sync);
  Status Write(const AnchorState& state, bool sync) { return WriteSlot(NextSlot(state), sync); }

 private:
  Status OpenFile();

  const std::string path_;
  int fd_ = -1;
  uint64_t write_count_ = 0;
};

// Identity of the running boot of this machine; "" when unknown.
std::string BootId();

enum class AnchorVerdict { kFine, kBehind };
// Compares the store that was opened with its anchor. Same length and another hash is a loss too:
// history was rewritten.
AnchorVerdict CompareWithAnchor(const AnchorState& anchor, uint64_t commit_version,
                                const ChainHead& store_audit);

}  // namespace agenttx
