// Owns a set of byte strings that is filled once and thrown away: one allocation per doubling, none
// per key. Restore asks it "was this key seen before?" for every undo record.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace agenttx {

class KeySet {
 public:
  explicit KeySet(size_t expected) {
    size_t slot_count = 16;
    while (slot_count < expected * 2) slot_count *= 2;
    slots_.resize(slot_count);
  }

  // False: the key was there already.
  bool Insert(std::string_view key) {
    if ((count_ + 1) * 2 > slots_.size()) Grow();
    const size_t hash = std::hash<std::string_view>()(key);
    Slot* slot = Find(key, hash);
    if (slot->length_plus_one != 0) return false;
    *slot = {hash, bytes_.size(), static_cast<uint32_t>(key.size()) + 1};
    bytes_.append(key);
    count_++;
    return true;
  }

  size_t size() const { return count_; }

 private:
  struct Slot {
    size_t hash = 0;
    size_t offset = 0;
    uint32_t length_plus_one = 0;  // 0 = empty
  };

  std::string_view KeyOf(const Slot& slot) const {
    return {bytes_.data() + slot.offset, slot.length_plus_one - 1};
  }

  Slot* Find(std::string_view key, size_t hash) {
    size_t index = hash & (slots_.size() - 1);
    while (slots_[index].length_plus_one != 0 &&
           (slots_[index].hash != hash || KeyOf(slots_[index]) != key)) {
      index = (index + 1) & (slots_.size() - 1);
    }
    return &slots_[index];
  }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.length_plus_one != 0) *Find(KeyOf(slot), slot.hash) = slot;
    }
  }

  std::string bytes_;
  std::vector<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace agenttx
