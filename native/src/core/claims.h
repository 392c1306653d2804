// Owns who of this process works on which open transaction (C8): what one opening of the store has
// begun or taken up is not left over from a crash, however many share the database.
// Kept in memory alone: whoever is gone, its thread included, claims nothing.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

namespace agenttx {

class Claims {
 public:
  // Any address; never read.
  using Holder = const void*;
  enum class Answer { kNew, kOwn, kOthers };

  // kOthers: nothing was changed, unless `takes_over`: then it is the caller's now.
  Answer Claim(const std::string& name, Holder holder, bool takes_over) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto [entry, is_new] = by_name_.try_emplace(name, holder);
    if (is_new) return Answer::kNew;
    if (entry->second == holder) return Answer::kOwn;
    if (takes_over) entry->second = holder;
    return Answer::kOthers;
  }

  void Release(const std::string& name) {
    std::lock_guard<std::mutex> lock(mutex_);
    by_name_.erase(name);
  }

  void ReleaseAllOf(Holder holder) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(by_name_, [&](const auto& entry) { return entry.second == holder; });
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, Holder> by_name_;  // by encoded name
};

}  // namespace agenttx
