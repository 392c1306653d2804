// Owns where the output of a step is; see outputs.h.
#include "outputs.h"

#include <algorithm>

#include "batch_parts.h"
#include "bytes.h"
#include "read_view.h"
#include "verbs.h"

namespace agenttx {
namespace {

Status DamagedOutput() {
  return {Code::kStoreCorrupt, "An output of a step is damaged or missing. Nothing was changed."};
}

// Of the last snapshot's step there is none after it.
bool HasSnapshotAfter(uint32_t step) { return step < UINT32_MAX; }

// The step in a key, or a step beyond all for a key that is none of ours.
uint64_t StepAt(std::string_view key, std::string_view prefix) {
  return key.size() < prefix.size() + 4 ? UINT64_MAX : LoadU32(key.data() + prefix.size());
}

// The output that snapshot record `bytes` names; `value` stays empty when it names none.
Status ReadNamed(Database* db, std::string_view tx_name, std::string_view bytes,
                 const rocksdb::Snapshot* view, std::optional<std::string>* value) {
  SnapshotRecord snapshot;
  if (!DecodeSnapshot(bytes, &snapshot)) return DamagedOutput();
  if (snapshot.output_entry == 0) return Status::Ok();
  rocksdb::PinnableSlice entry_bytes;
  bool found = false;
  Status status =
      db->Get(kAuditFamily, ChainKey(tx_name, snapshot.output_entry), &entry_bytes, &found, view);
  if (!status.ok()) return status;
  ChainEntry entry;
  if (!found || !DecodeChainEntry(entry_bytes.ToStringView(), &entry)) return DamagedOutput();
  value->emplace(entry.payload);
  return status;
}

Status ReadAt(Database* db, std::string_view tx_name, uint32_t step, const ReadView& view,
              std::optional<std::string>* value) {
  rocksdb::PinnableSlice bytes;
  bool found = false;
  Status status;
  if (HasSnapshotAfter(step)) {
    status = db->Get(kSnapshots, SnapshotKey(tx_name, step + 1), &bytes, &found, view.get());
    if (status.ok() && found) {
      status = ReadNamed(db, tx_name, bytes.ToStringView(), view.get(), value);
    }
    if (!status.ok() || value->has_value()) return status;
  }
  const std::string key = RecordKey(RecordSpace::kOutput, tx_name, step, 0, {});
  status = db->Get(kDefault, key, &bytes, &found, view.get());
  if (status.ok() && found) value->emplace(bytes.ToStringView());
  return status;
}

}  // namespace

const RecordWrite* SharedOutput(const Batch& batch, uint32_t spaces) {
  const bool has_records = (spaces & (1u << static_cast<uint8_t>(RecordSpace::kOutput))) != 0;
  if (has_records || !batch.snapshot.has_value() || batch.audit.empty()) return nullptr;
  const RecordWrite* output = nullptr;
  for (const RecordWrite& record : batch.records) {
    if (record.space != RecordSpace::kOutput) continue;
    if (output != nullptr) return nullptr;
    output = &record;
  }
  const bool is_shared = output != nullptr && !output->is_delete &&
                         HasSnapshotAfter(output->step) && output->step + 1 == *batch.snapshot &&
                         output->value == batch.audit.front();
  return is_shared ? output : nullptr;
}

Status ClearSharedOutputs(Group* group, std::string_view tx_name, const Batch& batch,
                          uint32_t newest_snapshot) {
  for (const RecordWrite& record : batch.records) {
    if (record.space != RecordSpace::kOutput || record.step >= newest_snapshot) continue;
    const std::string key = SnapshotKey(tx_name, record.step + 1);
    rocksdb::PinnableSlice bytes;
    bool found = false;
    Status status = group->db->Get(kSnapshots, key, &bytes, &found);
    if (!status.ok()) return status;
    SnapshotRecord snapshot;
    if (!found) continue;
    if (!DecodeSnapshot(bytes.ToStringView(), &snapshot)) return DamagedOutput();
    if (snapshot.output_entry == 0) continue;
    // The batch writes the header, or the record of a newer snapshot does (H2).
    snapshot.output_entry = 0;
    status = Put(group, kSnapshots, key, EncodeSnapshot(snapshot, nullptr));
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

Status ReadOutput(Database* db, std::string_view tx_name, uint32_t step,
                  std::optional<std::string>* value) {
  return ReadAt(db, tx_name, step, ReadView(db), value);
}

Status ScanOutputs(Database* db, const TransactionName& tx, uint32_t from_step, uint32_t limit,
                   std::vector<RecordEntry>* out) {
  const std::string name = EncodeName(tx.ns, tx.id);
  const std::string named_prefix = TransactionPrefix('m', name);
  const std::string record_prefix = OutputPrefix(name);
  KeyRange named_range = PrefixRange(named_prefix);
  named_range.begin = SnapshotKey(name, HasSnapshotAfter(from_step) ? from_step + 1 : UINT32_MAX);
  KeyRange record_range = PrefixRange(record_prefix);
  AppendU32(&record_range.begin, from_step);
  const ReadView view(db);
  Database::RangeIterator named(db, kSnapshots, std::move(named_range), view.get());
  Database::RangeIterator records(db, kDefault, std::move(record_range), view.get());
  named->SeekToFirst();
  records->SeekToFirst();
  size_t byte_count = 0;
  while (out->size() < limit && byte_count < kScanBytesMax &&
         (named->Valid() || records->Valid())) {
    const uint64_t named_step = named->Valid() ? StepAt(named.key(), named_prefix) - 1 : UINT64_MAX;
    const uint64_t record_step =
        records->Valid() ? StepAt(records.key(), record_prefix) : UINT64_MAX;
    std::optional<std::string> value;
    if (record_step <= named_step) {
      value.emplace(records.value());
      records->Next();
    } else {
      Status status = ReadNamed(db, name, named.value(), view.get(), &value);
      if (!status.ok()) return status;
      named->Next();
    }
    if (!value.has_value()) continue;
    byte_count += value->size();
    RecordEntry& entry = out->emplace_back();
    entry.tx = tx.id;
    entry.step = static_cast<uint32_t>(std::min(record_step, named_step));
    entry.seq = 0;
    entry.value = std::move(*value);
  }
  const Status status = named.status();
  return status.ok() ? records.status() : status;
}

}  // namespace agenttx
