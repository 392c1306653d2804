// Owns the reserve of free space (S10): below it new work is refused, so that restore, discard and
// compensation still have room. Asks the file system at most every 100 ms.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "agenttx/status.h"

namespace agenttx {

class FreeSpace {
 public:
  FreeSpace(std::string path, uint64_t reserve_bytes)
      : path_(std::move(path)), reserve_bytes_(reserve_bytes) {}

  // OK, or kResourceExhausted: nothing was written.
  Status CheckForNewWork();

 private:
  const std::string path_;
  const uint64_t reserve_bytes_;
  std::atomic<int64_t> checked_at_ms_{INT64_MIN / 2};
  std::atomic<uint64_t> free_bytes_{UINT64_MAX};
};

}  // namespace agenttx
