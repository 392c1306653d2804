// Owns reading a batch; see batch_decoder.h.
#include "batch_decoder.h"

#include <string>

#include "bytes.h"
#include "key_codec.h"

namespace agenttx {
namespace {

Status Malformed(size_t op_index, const char* what) {
  return {Code::kInvalidArgument, "Operation " + std::to_string(op_index) + " of the batch " +
                                      what + "; nothing was written."};
}

Status TooLarge(const char* what, size_t bytes) {
  return {Code::kPayloadTooLarge, std::string(what) + " has " + std::to_string(bytes) +
                                      " bytes; at most 64 MiB are allowed. Nothing was written."};
}

template <typename T>
bool SetOnce(std::optional<T>* slot, T value) {
  if (slot->has_value()) return false;
  *slot = value;
  return true;
}

class Decoder {
 public:
  Decoder(std::string_view bytes, Batch* out) : reader_(bytes), out_(out) {}

  Status Run() {
    for (; !reader_.at_end(); op_index_++) {
      Status status = ReadOp(static_cast<BatchOp>(reader_.U8()));
      if (!status.ok()) return status;
    }
    return Status::Ok();
  }

 private:
  Status ReadOp(BatchOp op) {
    switch (op) {
      case BatchOp::kPut:
      case BatchOp::kDelete:
        return ReadWrite(op == BatchOp::kDelete);
      case BatchOp::kRecordPut:
      case BatchOp::kRecordDelete:
        return ReadRecord(op == BatchOp::kRecordDelete, &out_->records);
      case BatchOp::kRecordStamped:
        return ReadRecord(false, &out_->stamped);
      case BatchOp::kAudit:
      case BatchOp::kStoreAudit:
        return ReadAudit(op == BatchOp::kAudit ? &out_->audit : &out_->store_audit);
      case BatchOp::kPayload:
        return ReadOnce(&out_->payload, reader_.SizedLittle());
      case BatchOp::kEvidence:
        return ReadOnce(&out_->evidence, reader_.SizedLittle());
      case BatchOp::kFence:
        return ReadOnce(&out_->fence, ReadFence());
      case BatchOp::kNext:
        return ReadOnce(&out_->next, ReadNext());
      case BatchOp::kSnapshot:
        return ReadOnce(&out_->snapshot, reader_.U32Little());
      case BatchOp::kChainErase:
        out_->erases_chain = true;
        return Status::Ok();
    }
    return Malformed(op_index_, "is of an unknown kind");
  }

  template <typename T>
  Status ReadOnce(std::optional<T>* slot, T value) {
    if (reader_.failed()) return Short();
    if (!SetOnce(slot, value)) return Malformed(op_index_, "may stand only once in a batch");
    return Status::Ok();
  }

  Status ReadWrite(bool is_tombstone) {
    StateWrite write;
    write.is_tombstone = is_tombstone;
    write.key = reader_.SizedLittle();
    if (!is_tombstone) write.value = reader_.SizedLittle();
    if (reader_.failed()) return Short();
    Status status = CheckKey(write.key);
    if (!status.ok()) return status;
    if (write.value.size() > kValueBytesMax) return TooLarge("A value", write.value.size());
    out_->writes.push_back(write);
    return Status::Ok();
  }

  Status ReadRecord(bool is_delete, std::vector<RecordWrite>* records) {
    const uint8_t space = reader_.U8();
    RecordWrite record{static_cast<RecordSpace>(space), 0, 0, {}, {}, is_delete};
    record.step = reader_.U32Little();
    record.seq = reader_.U64Little();
    record.name = reader_.SizedLittle();
    if (!is_delete) record.value = reader_.SizedLittle();
    if (reader_.failed()) return Short();
    if (space < static_cast<uint8_t>(RecordSpace::kOutput) ||
        space > static_cast<uint8_t>(RecordSpace::kMeta)) {
      return Malformed(op_index_, "names an unknown record space");
    }
    if (record.name.size() > kRecordNameBytesMax) {
      return Malformed(op_index_, "has a record name of more than 4096 bytes");
    }
    if (record.value.size() > kValueBytesMax) return TooLarge("A record", record.value.size());
    records->push_back(record);
    return Status::Ok();
  }

  Status ReadAudit(std::vector<std::string_view>* entries) {
    std::string_view payload = reader_.SizedLittle();
    if (reader_.failed()) return Short();
    if (payload.size() > kValueBytesMax) return TooLarge("An audit entry", payload.size());
    entries->push_back(payload);
    return Status::Ok();
  }

  Fence ReadFence() {
    Fence fence{};
    fence.owner = reader_.U64Little();
    fence.attempt = reader_.U64Little();
    fence.step = reader_.U32Little();
    return fence;
  }

  Next ReadNext() {
    const uint8_t has = reader_.U8();
    const uint64_t owner = reader_.U64Little();
    const uint64_t attempt = reader_.U64Little();
    const uint32_t step = reader_.U32Little();
    Next next;
    if (has & 1) next.owner = owner;
    if (has & 2) next.attempt = attempt;
    if (has & 4) next.step = step;
    return next;
  }

  Status Short() const { return Malformed(op_index_, "is cut short"); }

  ByteReader reader_;
  Batch* out_;
  size_t op_index_ = 0;
};

}  // namespace

Status DecodeBatch(std::string_view bytes, Batch* out) { return Decoder(bytes, out).Run(); }

}  // namespace agenttx
