// Owns the writes of a step: overlay entry and undo record together (S2).
// J1 A key has one undo record per interval between two snapshots: the entry as it was when the
//    interval began. Further writes of the interval need none.
// J2 Undo records are numbered by a counter that never goes back, so the oldest record of a key
//    after a snapshot holds what a restore to it puts back.
// J3 The base version of a key is the committed version first seen, by a read or a write (S6).
#pragma once

#include <string_view>
#include <unordered_map>

#include "batch_decoder.h"
#include "database.h"
#include "work.h"

namespace agenttx {

// Stages the writes of one batch for one transaction. REQUIRES: tx->mutex is held until installed.
class JournalStage {
 public:
  // `state` is the header that the batch will write; the extent and the counter in it move on.
  JournalStage(Group* group, Transaction* tx, TransactionState* state);

  Status Add(const StateWrite& write);
  // Compares the overlay after all writes with the caps of the transaction (S11).
  Status CheckLimits() const;
  // Takes the staged keys into the transaction's memory. `took_snapshot`: a new interval begins.
  void Install(bool took_snapshot) noexcept;

 private:
  struct Prior {
    bool is_known = false;  // journaled in this interval already
    uint64_t base = 0;
    uint64_t value_bytes = 0;
    bool is_present = false;
    rocksdb::PinnableSlice entry;  // set when not known and present
  };

  Status FindPrior(std::string_view key, Prior* prior);
  Status FindBase(std::string_view key, uint64_t* base);
  Status PutEntry(const StateWrite& write, uint64_t base);
  Status PutUndo(std::string_view key, const Prior& prior);

  Group* const group_;
  Transaction* const tx_;
  TransactionState* const state_;
  const std::string overlay_prefix_;
  const std::string committed_prefix_;
  std::unordered_map<std::string_view, JournaledKey> staged_;  // keys point into the batch
};

}  // namespace agenttx
