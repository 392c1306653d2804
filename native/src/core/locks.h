// Owns locks by name among the openings that share a database: what one of them does at a time,
// such as undoing the effects of a transaction (E8). In memory alone; a reopen and the end of the
// holder free them. A token tells a late unlock from the next holder's.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace agenttx {

class Locks {
 public:
  using Holder = const void*;

  // 0: taken, by whomever. Otherwise what Unlock wants back.
  uint64_t TryLock(const std::string& name, Holder holder) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto [entry, is_new] = by_name_.try_emplace(name, Entry{holder, last_token_ + 1});
    return is_new ? ++last_token_ : 0;
  }

  void Unlock(const std::string& name, uint64_t token) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = by_name_.find(name);
    if (found != by_name_.end() && found->second.token == token) by_name_.erase(found);
  }

  void FreeAllOf(Holder holder) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(by_name_, [&](const auto& entry) { return entry.second.holder == holder; });
  }

  void FreeAll() {
    std::lock_guard<std::mutex> lock(mutex_);
    by_name_.clear();
  }

 private:
  struct Entry {
    Holder holder;
    uint64_t token;
  };

  std::mutex mutex_;
  std::unordered_map<std::string, Entry> by_name_;
  uint64_t last_token_ = 0;
};

}  // namespace agenttx
