// Owns the record of an open transaction (t/) and of a snapshot (m/) (docs/formats.md).
// H1 A step changes a few numbers of the header. They stand in the record of the snapshot that it
//    takes, and t/ is not written again: the numbers of a snapshot above the one that t/ names
//    count in the place of those in t/.
// H2 Every other batch writes t/, with the newest snapshot in it, and so ends the claim of older
//    numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "audit_chain.h"

namespace agenttx {

// Sizes of what a transaction holds. A snapshot remembers them, so that a restore sets them back
// without counting.
struct Extent {
  uint64_t write_count = 0;  // writes since begin; restore reports a difference of two
  uint64_t overlay_keys = 0;
  uint64_t overlay_bytes = 0;    // keys and values
  uint64_t journal_records = 0;  // live
};

// Everything the engine's payload is not. `next_seq` numbers undo records and is never reused: not
// by a restore, not by a restart.
struct TransactionState {
  uint64_t incarnation = 0;
  uint64_t owner = 1;
  uint64_t attempt = 0;
  uint32_t step = 1;
  uint32_t snapshot = 1;
  uint64_t next_seq = 0;
  Extent extent;
  uint64_t bytes_max = 0;
  uint64_t keys_max = 0;
  bool serializable = false;
  // Commit version of the store before the transaction first looked at committed state: as long as
  // the store is still there, no base version can be out of date.
  uint64_t base_commit = 0;
  // Bit n: a record of space n was written. Spares commit the look into empty ranges.
  uint32_t spaces = 0;
  bool has_read_set = false;  // a v/ record was written
  ChainHead audit;
};

struct SnapshotRecord {
  uint64_t seq = 0;  // the next undo record's number when it was taken
  Extent extent;
  // Number of the audit entry whose payload is the output of the step before it; 0: none is.
  uint64_t output_entry = 0;
};

std::string EncodeHeader(const TransactionState& state, std::string_view payload);
bool DecodeHeader(std::string_view bytes, TransactionState* state, std::string_view* payload);

// `moved` adds the numbers of the header that a step changes (H1); null leaves them out.
std::string EncodeSnapshot(const SnapshotRecord& snapshot, const TransactionState* moved);
// Reads records of format 1 too.
bool DecodeSnapshot(std::string_view bytes, SnapshotRecord* out);
// Puts the numbers of the header in the record of snapshot `step` into `state`. False: it has none.
bool DecodeMovedState(std::string_view bytes, uint32_t step, TransactionState* state);

}  // namespace agenttx
