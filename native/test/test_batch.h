// Owns the tests' side of the batch format: what JavaScript builds, built in C++.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "agenttx/batch_format.h"

namespace agenttx::test {

class BatchBuilder {
 public:
  BatchBuilder& Put(std::string_view key, std::string_view value);
  BatchBuilder& Delete(std::string_view key);
  BatchBuilder& Record(RecordSpace space, uint32_t step, uint64_t seq, std::string_view name,
                       std::string_view value);
  BatchBuilder& Stamped(RecordSpace space, std::string_view value);
  BatchBuilder& DeleteRecord(RecordSpace space, uint32_t step, uint64_t seq, std::string_view name);
  BatchBuilder& Audit(std::string_view payload);
  BatchBuilder& StoreAudit(std::string_view payload);
  BatchBuilder& Payload(std::string_view payload);
  BatchBuilder& Fence(uint64_t owner, uint64_t attempt, uint32_t step);
  BatchBuilder& NextStep(uint32_t step);
  BatchBuilder& NextOwner(uint64_t owner);
  BatchBuilder& NextAttempt(uint64_t attempt);
  BatchBuilder& Snapshot(uint32_t step);
  BatchBuilder& Evidence(std::string_view payload);
  BatchBuilder& ChainErase();

  const std::string& bytes() const { return bytes_; }
  operator std::string_view() const { return bytes_; }

 private:
  BatchBuilder& Op(BatchOp op);
  BatchBuilder& U32(uint32_t value);
  BatchBuilder& U64(uint64_t value);
  BatchBuilder& Sized(std::string_view bytes);
  BatchBuilder& Next(uint8_t has, uint64_t owner, uint64_t attempt, uint32_t step);

  std::string bytes_;
};

}  // namespace agenttx::test
