// Owns the memory of one open transaction and the table of them.
// T1 Everything here is a copy of what is on disk, or (reads, the journaled set) can be lost.
// T2 `mutex` is held by whoever prepares, writes and installs a change; `header_mutex` guards the
//    header only, so that a look at it never waits for a write.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "agenttx/store.h"
#include "header_codec.h"
#include "read_set.h"

namespace agenttx {

// A key whose prior entry is in the journal since the newest snapshot: further writes of it need
// neither a read nor a record (S2).
struct JournaledKey {
  uint64_t base = 0;
  uint64_t value_bytes = 0;  // of the entry as it is now
};
using JournaledKeys =
    std::unordered_map<std::string, JournaledKey, TransparentHash, std::equal_to<>>;

class Transaction {
 public:
  enum class Phase : uint8_t { kUnloaded, kOpen, kEnded };

  explicit Transaction(std::string encoded_name) : name(std::move(encoded_name)) {}

  // Replaces the header. REQUIRES: `mutex` is held.
  void SetHeader(const TransactionState& new_state, const std::string_view* new_payload);
  Header CopyHeader() const;
  // Empties what memory need not keep after the transaction has ended.
  void End();

  const std::string name;  // EncodeName(ns, id)
  std::mutex mutex;

  // Guarded by `mutex`.
  std::atomic<Phase> phase{Phase::kUnloaded};  // written under `mutex`
  TransactionState state;                      // written under both mutexes
  std::string payload;                         // written under both mutexes
  JournaledKeys journaled;
  ReadSet reads;

 private:
  mutable std::mutex header_mutex_;
};

class TransactionTable {
 public:
  TransactionRef FindOrInsert(const std::string& name);
  void Forget(const Transaction* tx);
  void Clear();

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, TransactionRef> by_name_;
};

}  // namespace agenttx
