// Owns reading a batch that JavaScript made (agenttx/batch_format.h). Every bound and limit is
// checked here, before anything is written (S11): what comes out is safe to apply. The views point
// into the batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "agenttx/batch_format.h"
#include "agenttx/status.h"

namespace agenttx {

struct StateWrite {
  std::string_view key;
  std::string_view value;
  bool is_tombstone = false;
};

struct RecordWrite {
  RecordSpace space;
  uint32_t step;
  uint64_t seq;
  std::string_view name;
  std::string_view value;
  bool is_delete;
};

struct Fence {
  uint64_t owner;
  uint64_t attempt;
  uint32_t step;
};

struct Next {
  std::optional<uint64_t> owner;
  std::optional<uint64_t> attempt;
  std::optional<uint32_t> step;
};

struct Batch {
  std::vector<StateWrite> writes;
  std::vector<RecordWrite> records;
  std::vector<RecordWrite> stamped;  // records that get the commit's version in front
  std::vector<std::string_view> audit;
  std::vector<std::string_view> store_audit;
  std::optional<std::string_view> payload;
  std::optional<Fence> fence;
  std::optional<Next> next;
  std::optional<uint32_t> snapshot;
  std::optional<std::string_view> evidence;
  bool erases_chain = false;
};

// OK, kInvalidArgument (malformed: says at which op), kInvalidKey or kPayloadTooLarge.
Status DecodeBatch(std::string_view bytes, Batch* out);

}  // namespace agenttx
