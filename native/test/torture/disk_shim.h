// Owns the layer between the core and the operating system in the torture program: the calls with
// which RocksDB and the core change files are defined here, so that ANCHOR, FORMAT and the log are
// all seen. Linked into agenttx_torture only.
// T1 Only paths below the watched root are counted, failed or recorded.
// T2 A recorded call is recorded in the order in which it took effect.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace agenttx::torture {

enum class FaultKind { kErrorOnce, kErrorSticky, kFullOnce, kFullSticky, kShortWrite, kReadError };
inline constexpr FaultKind kFaultKinds[] = {FaultKind::kErrorOnce,  FaultKind::kErrorSticky,
                                            FaultKind::kFullOnce,   FaultKind::kFullSticky,
                                            FaultKind::kShortWrite, FaultKind::kReadError};
const char* NameOf(FaultKind kind);

struct DiskOp {
  enum class Kind { kCreate, kWrite, kTruncate, kSync, kRename, kUnlink, kLink, kMkdir, kSyncDir };
  Kind kind;
  uint64_t inode = 0;  // of a file or, for kSyncDir, unused
  uint64_t offset = 0;
  std::string path;   // relative to the root
  std::string other;  // target of a rename or a link
  std::string bytes;
};

class DiskShim {
 public:
  static DiskShim& Process();

  // Counts calls below `root` from now on.
  void Watch(const std::string& root);
  void Unwatch();
  // The `index`-th call from now fails (from 1). kReadError counts reads, the others changes.
  void FailAt(FaultKind kind, uint64_t index);
  // The disk works again; the count goes on.
  void Heal();
  bool has_fired() const { return has_fired_; }
  // True when the last index was beyond all calls of the fault's sort.
  uint64_t count() const { return count_; }

  void Record(bool is_recording);
  std::vector<DiskOp> TakeTrace();
  size_t trace_size();

  // For the definitions of the calls. A verdict of 0 lets the call through; otherwise it is errno.
  bool IsWatched(const char* path, std::string* relative);
  int BeforeChange(bool is_write, bool* is_short);
  int BeforeRead();
  void Note(DiskOp op);
  bool is_active() const { return is_active_; }

 private:
  bool is_active_ = false;
  bool is_armed_ = false;
  bool is_broken_ = false;
  bool has_fired_ = false;
  bool is_recording_ = false;
  bool short_left_ = false;
  FaultKind kind_ = FaultKind::kErrorOnce;
  uint64_t index_ = 0;
  uint64_t count_ = 0;
  std::string root_;
  std::vector<DiskOp> trace_;
};

}  // namespace agenttx::torture
