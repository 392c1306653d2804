// Owns what a transaction has read (S6): for each key the committed version that it saw first, in
// which step, and whether the read is validated at commit (S8).
// R1 The first version seen stays, however often the key is read again.
// R2 Forgetting the steps from T on leaves the set as it was before step T.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace agenttx {

struct TransparentHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

struct ReadEntry {
  uint64_t version = 0;
  uint32_t step = 0;
  uint32_t validate_step = UINT32_MAX;  // the first step that asked for validation; max = none

  bool is_validated() const { return validate_step != UINT32_MAX; }
};

class ReadSet {
 public:
  using Map = std::unordered_map<std::string, ReadEntry, TransparentHash, std::equal_to<>>;

  const ReadEntry* Find(std::string_view key) const;
  void Remember(std::string_view key, uint64_t version, uint32_t step, bool validate);
  void ForgetFrom(uint32_t step);
  void Clear();

  const Map& entries() const { return entries_; }
  bool has_unsaved() const { return saved_ < log_.size(); }
  // Reads since the last save as the value of a v/ record; call MarkSaved once it is written.
  //   readRecord := (keyLen:u32 key version:u64 validate:u8)*
  std::string EncodeUnsaved() const;
  void MarkSaved() { saved_ = log_.size(); }
  // Adds the reads of a v/ record. False: the record is malformed.
  bool LoadRecord(uint32_t step, std::string_view bytes);
  // The reads of steps below `step` as one v/ record, for a fork.
  std::string EncodeBefore(uint32_t step) const;

 private:
  // In order of time, so that forgetting takes from the end.
  struct LogItem {
    const std::string* key;  // a node of entries_, which never moves
    uint32_t step;
    bool is_first;
    bool validate;
  };

  Map entries_;
  std::vector<LogItem> log_;
  size_t saved_ = 0;
};

}  // namespace agenttx
