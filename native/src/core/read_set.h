// Owns what a transaction has read (S6): for each key the committed version that it saw first, and
// whether the read is validated at commit (S8).
// I1 The first version seen stays, however often the key is read again.
// I2 Reads stand at the number of the v/ record that holds them, which is drawn from the counter
//    that snapshots remember. Going back to a snapshot leaves the set as it was when the snapshot
//    was taken, whatever step numbers the header had since.
// I3 Reads of no record yet are newer than every snapshot: a batch that takes one saves them first.
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
  bool is_validated = false;
};

class ReadSet {
 public:
  using Map = std::unordered_map<std::string, ReadEntry, TransparentHash, std::equal_to<>>;

  const ReadEntry* Find(std::string_view key) const;
  void Remember(std::string_view key, uint64_t version, bool validate);
  // Forgets the reads of records numbered `seq` and higher, and those of no record.
  void ForgetFrom(uint64_t seq);
  void Clear();

  const Map& entries() const { return entries_; }
  bool has_unsaved() const { return saved_count() < log_.size(); }
  // Reads since the last save as the value of a v/ record; MarkSaved once record `seq` is written.
  //   readRecord := (keyLen:u32 key version:u64 validate:u8)*
  std::string EncodeUnsaved() const;
  void MarkSaved(uint64_t seq);
  // Adds the reads of v/ record `seq`. REQUIRES: records come in rising order. False: it is
  // malformed.
  bool LoadRecord(uint64_t seq, std::string_view bytes);
  // The reads of records numbered below `seq` as one v/ record, for a fork.
  std::string EncodeBefore(uint64_t seq) const;
  // How many records are numbered `seq` and higher.
  size_t CountRecordsFrom(uint64_t seq) const;

 private:
  // In order of time, so that forgetting takes from the end.
  struct LogItem {
    const std::string* key;  // a node of entries_, which never moves
    bool is_first;
    bool validate;
  };
  // A v/ record: the reads of the log from the record before up to `log_end`.
  struct Record {
    uint64_t seq;
    size_t log_end;
  };

  size_t saved_count() const { return records_.empty() ? 0 : records_.back().log_end; }
  // How many records are numbered below `seq`.
  size_t RecordsBefore(uint64_t seq) const;
  std::string EncodeLog(size_t begin, size_t end) const;

  Map entries_;
  std::vector<LogItem> log_;
  std::vector<Record> records_;  // in rising order of seq
};

}  // namespace agenttx
