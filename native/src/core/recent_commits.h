// Owns the memory of which keys were committed lately, so that most validations need no read: a key
// that nobody committed since a transaction first looked still has its base version.
// Y1 Only ever says "surely not committed since": a hash that collides costs a read, no wrong
// answer. Guarded by the publish mutex.
#pragma once

#include <cstdint>
#include <functional>
#include <new>
#include <string_view>
#include <unordered_map>

namespace agenttx {

class RecentCommits {
 public:
  static size_t HashOf(std::string_view full_key) {
    return std::hash<std::string_view>()(full_key);
  }

  // Nothing is known about commits up to `version`.
  void Reset(uint64_t version) {
    versions_.clear();
    known_since_ = version;
  }

  void Add(size_t hash, uint64_t version) noexcept {
    // Forgetting all at once keeps the bookkeeping trivial; older transactions then read again.
    if (versions_.size() >= kKeysMax) Reset(version);
    try {
      versions_[hash] = version;
    } catch (const std::bad_alloc&) {
      Reset(version);
    }
  }

  // True: the key was certainly not committed after `since`.
  bool IsUntouchedSince(std::string_view full_key, uint64_t since) const {
    if (since < known_since_) return false;
    const auto found = versions_.find(HashOf(full_key));
    return found == versions_.end() || found->second <= since;
  }

 private:
  static constexpr size_t kKeysMax = 65'536;

  std::unordered_map<size_t, uint64_t> versions_;
  uint64_t known_since_ = UINT64_MAX;
};

}  // namespace agenttx
