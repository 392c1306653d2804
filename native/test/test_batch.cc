// Owns the tests' side of the batch format; see test_batch.h.
#include "test_batch.h"

namespace agenttx::test {

BatchBuilder& BatchBuilder::Op(BatchOp op) {
  bytes_.push_back(static_cast<char>(op));
  return *this;
}

BatchBuilder& BatchBuilder::U32(uint32_t value) {
  for (int i = 0; i < 4; i++) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  return *this;
}

BatchBuilder& BatchBuilder::U64(uint64_t value) {
  for (int i = 0; i < 8; i++) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  return *this;
}

BatchBuilder& BatchBuilder::Sized(std::string_view bytes) {
  U32(static_cast<uint32_t>(bytes.size()));
  bytes_.append(bytes);
  return *this;
}

BatchBuilder& BatchBuilder::Put(std::string_view key, std::string_view value) {
  return Op(BatchOp::kPut).Sized(key).Sized(value);
}
BatchBuilder& BatchBuilder::Delete(std::string_view key) { return Op(BatchOp::kDelete).Sized(key); }
BatchBuilder& BatchBuilder::Record(RecordSpace space, uint32_t step, uint64_t seq,
                                   std::string_view name, std::string_view value) {
  Op(BatchOp::kRecordPut);
  bytes_.push_back(static_cast<char>(space));
  return U32(step).U64(seq).Sized(name).Sized(value);
}
BatchBuilder& BatchBuilder::Stamped(RecordSpace space, std::string_view value) {
  Op(BatchOp::kRecordStamped);
  bytes_.push_back(static_cast<char>(space));
  return U32(0).U64(0).Sized("").Sized(value);
}
BatchBuilder& BatchBuilder::DeleteRecord(RecordSpace space, uint32_t step, uint64_t seq,
                                         std::string_view name) {
  Op(BatchOp::kRecordDelete);
  bytes_.push_back(static_cast<char>(space));
  return U32(step).U64(seq).Sized(name);
}
BatchBuilder& BatchBuilder::Audit(std::string_view payload) {
  return Op(BatchOp::kAudit).Sized(payload);
}
BatchBuilder& BatchBuilder::StoreAudit(std::string_view payload) {
  return Op(BatchOp::kStoreAudit).Sized(payload);
}
BatchBuilder& BatchBuilder::Payload(std::string_view payload) {
  return Op(BatchOp::kPayload).Sized(payload);
}
BatchBuilder& BatchBuilder::Fence(uint64_t owner, uint64_t attempt, uint32_t step) {
  return Op(BatchOp::kFence).U64(owner).U64(attempt).U32(step);
}
BatchBuilder& BatchBuilder::Next(uint8_t has, uint64_t owner, uint64_t attempt, uint32_t step) {
  Op(BatchOp::kNext);
  bytes_.push_back(static_cast<char>(has));
  return U64(owner).U64(attempt).U32(step);
}
BatchBuilder& BatchBuilder::NextStep(uint32_t step) { return Next(4, 0, 0, step); }
BatchBuilder& BatchBuilder::NextOwner(uint64_t owner) { return Next(1, owner, 0, 0); }
BatchBuilder& BatchBuilder::NextAttempt(uint64_t attempt) { return Next(2, 0, attempt, 0); }
BatchBuilder& BatchBuilder::Snapshot(uint32_t step) { return Op(BatchOp::kSnapshot).U32(step); }
BatchBuilder& BatchBuilder::Evidence(std::string_view payload) {
  return Op(BatchOp::kEvidence).Sized(payload);
}
BatchBuilder& BatchBuilder::ChainErase() { return Op(BatchOp::kChainErase); }

}  // namespace agenttx::test
