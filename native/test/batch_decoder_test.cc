// Goal: no batch, however hostile, reads out of bounds or gets half-applied. Run under ASan too.
#include "batch_decoder.h"

#include "test_batch.h"
#include "test_case.h"

using namespace agenttx;
using agenttx::test::BatchBuilder;

namespace {

BatchBuilder FullBatch() {
  return BatchBuilder()
      .Put("k", "v")
      .Delete("gone")
      .Record(RecordSpace::kEffect, 3, UINT64_MAX, "name", "value")
      .DeleteRecord(RecordSpace::kSaga, 1, 2, "")
      .Audit("a")
      .StoreAudit("s")
      .Payload("p")
      .Fence(1, UINT64_MAX, 3)
      .NextStep(4)
      .Snapshot(4)
      .Evidence("late")
      .ChainErase()
      .Stamped(RecordSpace::kTerminal, "end");
}

}  // namespace

TEST(EveryOperationIsDecoded) {
  const BatchBuilder bytes = FullBatch();
  Batch batch;
  CHECK_OK(DecodeBatch(bytes, &batch));
  CHECK_EQ(batch.writes.size(), 2u);
  CHECK_EQ(batch.writes[0].value, "v");
  CHECK(batch.writes[1].is_tombstone);
  CHECK_EQ(batch.records.size(), 2u);
  CHECK_EQ(batch.records[0].seq, UINT64_MAX);
  CHECK(batch.records[1].is_delete);
  CHECK_EQ(batch.audit.size(), 1u);
  CHECK_EQ(batch.store_audit.size(), 1u);
  CHECK_EQ(*batch.payload, "p");
  CHECK_EQ(batch.fence->attempt, UINT64_MAX);
  CHECK_EQ(*batch.next->step, 4u);
  CHECK(!batch.next->owner.has_value());
  CHECK_EQ(*batch.snapshot, 4u);
  CHECK_EQ(*batch.evidence, "late");
  CHECK(batch.erases_chain);
  CHECK_EQ(batch.stamped.size(), 1u);
  CHECK_EQ(batch.stamped[0].value, "end");
}

TEST(ATruncatedBatchIsRefused) {
  const std::string bytes = BatchBuilder().Fence(1, 2, 3).Put("key", "value").bytes();
  const size_t fence_bytes = BatchBuilder().Fence(1, 2, 3).bytes().size();
  for (size_t length = 1; length < bytes.size(); length++) {
    if (length == fence_bytes) continue;  // a whole batch of one operation
    Batch batch;
    // A heap copy of the exact size, so that a sanitizer sees any read behind it.
    const std::string cut = bytes.substr(0, length);
    CHECK_CODE(DecodeBatch(cut, &batch), kInvalidArgument);
  }
}

TEST(HugeLengthsAreRefused) {
  for (const uint32_t length : {0xFFFFFFFFu, 0x7FFFFFFFu, 1000u}) {
    std::string bytes("\x01", 1);
    for (int i = 0; i < 4; i++) bytes.push_back(static_cast<char>(length >> (8 * i)));
    bytes.append("abc");
    Batch batch;
    CHECK_CODE(DecodeBatch(bytes, &batch), kInvalidArgument);
  }
}

TEST(LimitsAreCheckedBeforeAnythingElse) {
  Batch batch;
  CHECK_CODE(DecodeBatch(BatchBuilder().Put("", "v"), &batch), kInvalidKey);
  CHECK_CODE(DecodeBatch(BatchBuilder().Put(std::string(4097, 'k'), "v"), &batch), kInvalidKey);
  CHECK_CODE(DecodeBatch(BatchBuilder().Put("k", std::string((64u << 20) + 1, 'v')), &batch),
             kPayloadTooLarge);
  CHECK_CODE(DecodeBatch(BatchBuilder().Snapshot(1).Snapshot(2), &batch), kInvalidArgument);
  CHECK_CODE(DecodeBatch(std::string_view("\x63", 1), &batch), kInvalidArgument);
  CHECK_CODE(DecodeBatch(BatchBuilder().Record(static_cast<RecordSpace>(9), 0, 0, "", ""), &batch),
             kInvalidArgument);
}

TEST(RandomBytesNeverCrashTheDecoder) {
  std::mt19937_64 random(agenttx::test::Seed());
  const std::string valid = FullBatch().bytes();
  for (int i = 0; i < 100'000; i++) {
    std::string bytes;
    if (i % 2 == 0) {
      const size_t length = random() % 64;
      for (size_t at = 0; at < length; at++) bytes.push_back(static_cast<char>(random() % 15));
    } else {
      bytes = valid.substr(0, random() % (valid.size() + 1));
      for (int flips = 0; flips < 3 && !bytes.empty(); flips++) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
    }
    Batch batch;
    const Status status = DecodeBatch(bytes, &batch);
    for (const StateWrite& write : batch.writes) {
      CHECK(write.key.data() >= bytes.data() &&
            write.key.data() + write.key.size() <= bytes.data() + bytes.size());
    }
    CHECK(status.ok() || status.code() == Code::kInvalidArgument ||
          status.code() == Code::kInvalidKey);
  }
}
