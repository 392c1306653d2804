// Owns the reserve of free space; see free_space.h.
#include "free_space.h"

#include <sys/statvfs.h>
#include <time.h>

namespace agenttx {
namespace {

constexpr int64_t kEveryMs = 100;

int64_t CoarseNowMs() {
  timespec now{};
#if defined(CLOCK_MONOTONIC_COARSE)
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#else
  clock_gettime(CLOCK_MONOTONIC, &now);
#endif
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

std::string Mebibytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

Status FreeSpace::CheckForNewWork() {
  if (reserve_bytes_ == 0) return Status::Ok();
  const int64_t now_ms = CoarseNowMs();
  int64_t checked_at_ms = checked_at_ms_.load(std::memory_order_relaxed);
  if (now_ms - checked_at_ms >= kEveryMs &&
      checked_at_ms_.compare_exchange_strong(checked_at_ms, now_ms)) {
    struct statvfs info {};
    // A file system that cannot say how much is free must not stop the store.
    const uint64_t free_bytes = statvfs(path_.c_str(), &info) == 0
                                    ? static_cast<uint64_t>(info.f_bavail) * info.f_frsize
                                    : UINT64_MAX;
    free_bytes_.store(free_bytes, std::memory_order_relaxed);
  }
  const uint64_t free_bytes = free_bytes_.load(std::memory_order_relaxed);
  if (free_bytes >= reserve_bytes_) return Status::Ok();
  return {Code::kResourceExhausted, "Only " + Mebibytes(free_bytes) +
                                        " are free on the disk of the store, less than the "
                                        "reserve of " +
                                        Mebibytes(reserve_bytes_) +
                                        "; new work is refused and nothing was "
                                        "written. Free some space and repeat the call."};
}

}  // namespace agenttx
