// Owns the poisoned state (S10): after a failed write or fsync nobody knows what is on disk, so
// writes are refused until the store is reopened. Reads go on.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "agenttx/status.h"

namespace agenttx {

class Poison {
 public:
  bool is_set() const { return set_.load(std::memory_order_acquire); }

  // The first reason stays.
  void Set(const std::string& reason) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (set_.load(std::memory_order_relaxed)) return;
    reason_ = reason;
    set_.store(true, std::memory_order_release);
  }

  // Another reason in place of the first.
  void Replace(std::string reason) noexcept {
    std::lock_guard<std::mutex> lock(mutex_);
    reason_ = std::move(reason);
    set_.store(true, std::memory_order_release);
  }

  void Clear() {
    std::lock_guard<std::mutex> lock(mutex_);
    reason_.clear();
    set_.store(false, std::memory_order_release);
  }

  std::string reason() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return reason_;
  }

  Status Check() const {
    if (!is_set()) return Status::Ok();
    return {Code::kStorePoisoned, "An earlier write failed (" + reason() +
                                      "); writes are refused, reads go on. Reopen the store."};
  }

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> set_{false};
  std::string reason_;
};

}  // namespace agenttx
