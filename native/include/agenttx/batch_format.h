// Owns the byte format in which one batch crosses from JavaScript. Both sides are tested with the
// same vectors. All integers are little-endian; the decoder checks every bound before use.
//
// batch  := op*
// op     := kind:u8 body
//   1 kPut           keyLen:u32 key valueLen:u32 value      overlay entry
//   2 kDelete        keyLen:u32 key                         overlay tombstone
//   3 kRecordPut     space:u8 step:u32 seq:u64 nameLen:u32 name valueLen:u32 value
//   4 kRecordDelete  space:u8 step:u32 seq:u64 nameLen:u32 name
//   5 kAudit         len:u32 payload                        entry of the transaction's chain
//   6 kStoreAudit    len:u32 payload                        entry of the store's chain
//   7 kPayload       len:u32 payload                        opaque part of the header
//   8 kFence         owner:u64 attempt:u64 step:u32         compared before anything is written
//   9 kNext          has:u8 owner:u64 attempt:u64 step:u32  bit 0 owner, bit 1 attempt, bit 2 step
//  10 kSnapshot      step:u32                               taken after the writes
//  11 kEvidence      len:u32 payload                        kept when the fence refuses
//  12 kChainErase    (no body)                              retention: removes the audit chain of a
//                                                           transaction that has ended
//  13 kRecordStamped  as kRecordPut                         commit only: stored as version:u64
//                                                           (big-endian) of the commit, then value
// kPayload, kFence, kNext, kSnapshot and kEvidence may stand once. Writes are applied in order.
#pragma once

#include <cstdint>

namespace agenttx {

enum class BatchOp : uint8_t {
  kPut = 1,
  kDelete = 2,
  kRecordPut = 3,
  kRecordDelete = 4,
  kAudit = 5,
  kStoreAudit = 6,
  kPayload = 7,
  kFence = 8,
  kNext = 9,
  kSnapshot = 10,
  kEvidence = 11,
  kChainErase = 12,
  kRecordStamped = 13,
};

// DO NOT CHANGE the values: they cross the boundary. Add new ones at the end.
enum class RecordSpace : uint8_t {
  kOutput = 1,
  kSaga = 2,
  kEffect = 3,
  kOutbox = 4,
  kRequest = 5,
  kTerminal = 6,
  kLate = 7,
  kMeta = 8,
};

}  // namespace agenttx
