// Owns records outside of a step: reading them, and writing them for a transaction that has ended
// or for none (compensation, outbox, retention). Writing them needs no reserve of free space (S10).
#include <algorithm>

#include "attach.h"
#include "batch_parts.h"
#include "bytes.h"
#include "outputs.h"
#include "removal.h"
#include "verbs.h"

namespace agenttx {
namespace {

Status DamagedChain() { return {Code::kStoreCorrupt, "An audit entry of the store is damaged."}; }

class RecordsWork final : public NamedWork {
 public:
  RecordsWork(Database* db, Batch batch) : db_(db), batch_(std::move(batch)) {
    publishes = !batch_.store_audit.empty();
  }

  Status Prepare(Group* group) override {
    Status status = LoadNamed(db_, tx.get(), &must_retry);
    if (!status.ok()) return status;
    // It would pass by the fence of whoever owns the transaction (E6).
    if (tx->phase == Transaction::Phase::kOpen) {
      return {
          Code::kInvalidArgument,
          "The transaction is open: its records go through its handle, which is fenced; nothing "
          "was written."};
    }
    if (!batch_.audit.empty()) status = ContinueChain(group);
    if (status.ok() && batch_.erases_chain) status = EraseChain(group);
    uint32_t spaces = 0;
    if (status.ok()) status = AddRecords(group, tx->name, batch_, &spaces);
    if (status.ok()) status = AddStoreAudit(group, batch_);
    return status;
  }

  void Install() noexcept override {}

 private:
  // The chain goes on where the commit or discard left it.
  Status ContinueChain(Group* group) {
    ChainHead head = EmptyChain(tx->name);
    rocksdb::PinnableSlice value;
    bool found = false;
    const std::string key = ChainHeadKey(tx->name);
    Status status = db_->Get(kAuditFamily, key, &value, &found);
    if (!status.ok()) return status;
    if (!found) {
      return {Code::kNotFound, "There was never a transaction of this name; nothing was written."};
    }
    if (!DecodeChainHead(value.ToStringView(), &head)) return DamagedChain();
    status = AddAudit(group, tx->name, batch_, &head);
    return status.ok() ? Put(group, kAuditFamily, key, EncodeChainHead(head)) : status;
  }

  Status EraseChain(Group* group) {
    Status status = RemoveEach(group, kAuditFamily, PrefixRange(TransactionPrefix('a', tx->name)));
    return status.ok() ? Delete(group, kAuditFamily, ChainHeadKey(tx->name)) : status;
  }

  Database* const db_;
  const Batch batch_;
};

// Reads "{prefix of the space}{step}{seq}{name}" after the transaction's name.
bool ParseRecordKey(std::string_view key, RecordEntry* out) {
  ParsedName name;
  std::string_view rest;
  if (!ParseName(key, &name, &rest)) return false;
  ByteReader reader(rest);
  out->tx = std::string(name.id);
  out->step = reader.U32();
  out->seq = reader.U64();
  out->name = std::string(reader.rest());
  return !reader.failed();
}

}  // namespace

Status ReadRecord(Database* db, const TransactionName& tx, RecordSpace space, uint32_t step,
                  uint64_t seq, std::string_view name, std::optional<std::string>* value) {
  Status status = CheckName(tx.ns, tx.id, true);
  if (!status.ok()) return status;
  value->reset();
  const std::string tx_name = EncodeName(tx.ns, tx.id);
  if (space == RecordSpace::kOutput) return ReadOutput(db, tx_name, step, value);
  rocksdb::PinnableSlice bytes;
  bool found = false;
  status = db->Get(FamilyOf(space), RecordKey(space, tx_name, step, seq, name), &bytes, &found);
  if (status.ok() && found) value->emplace(bytes.ToStringView());
  return status;
}

Status ScanRecords(Database* db, const TransactionName& tx, bool all, RecordSpace space,
                   uint32_t from_step, const std::optional<RecordEntry>& after, uint32_t limit,
                   std::vector<RecordEntry>* out) {
  out->clear();
  Status status = CheckName(tx.ns, tx.id, true);
  if (!status.ok()) return status;
  if (space == RecordSpace::kOutput) {
    if (all) return {Code::kInvalidArgument, "Outputs are listed one transaction at a time."};
    if (after.has_value() && after->step == UINT32_MAX) return status;
    const uint32_t first = after.has_value() ? std::max(from_step, after->step + 1) : from_step;
    return ScanOutputs(db, tx, first, limit, out);
  }
  std::string prefix = RecordPrefix(space, EncodeName(tx.ns, all ? std::string_view() : tx.id));
  if (all) prefix.pop_back();  // the length of an empty id: what is left is the namespace
  KeyRange range = PrefixRange(prefix);
  if (!all) AppendU32(&range.begin, from_step);
  if (after.has_value()) {
    const std::string name = EncodeName(tx.ns, all ? after->tx : tx.id);
    range.begin = RecordKey(space, name, after->step, after->seq, after->name);
    range.begin.push_back('\0');
  }
  if (range.begin >= range.end) return status;
  size_t byte_count = 0;
  Database::RangeIterator records(db, FamilyOf(space), std::move(range));
  for (records->SeekToFirst();
       records->Valid() && out->size() < limit && byte_count < kScanBytesMax; records->Next()) {
    RecordEntry entry;
    if (!ParseRecordKey(records.key(), &entry)) {
      return {Code::kStoreCorrupt, "The key of a record is damaged."};
    }
    if (entry.step < from_step) continue;
    entry.value = std::string(records.value());
    byte_count += entry.value.size() + entry.name.size();
    out->push_back(std::move(entry));
  }
  return records.status();
}

Status WriteRecords(Database* db, const TransactionName& tx, std::string_view batch_bytes) {
  Status status = CheckName(tx.ns, tx.id, true);
  Batch batch;
  if (status.ok()) status = DecodeFor("records", kTakesErase, batch_bytes, &batch);
  if (status.ok() && tx.id.empty() && (!batch.audit.empty() || batch.erases_chain)) {
    return {Code::kInvalidArgument,
            "Records of no transaction have no audit chain; nothing was written."};
  }
  if (status.ok() && batch.erases_chain && !batch.audit.empty()) {
    return {Code::kInvalidArgument,
            "A batch that erases an audit chain adds nothing to it; nothing was written."};
  }
  if (!status.ok()) return status;
  RecordsWork work(db, std::move(batch));
  return RunNamed(db, EncodeName(tx.ns, tx.id), &work);
}

Status ReadAudit(Database* db, const std::optional<TransactionName>& tx, uint64_t from_seq,
                 uint32_t limit, std::vector<AuditEntry>* out) {
  out->clear();
  KeyRange range = PrefixRange("s/");
  if (tx.has_value()) {
    Status status = CheckName(tx->ns, tx->id, false);
    if (!status.ok()) return status;
    range = PrefixRange(TransactionPrefix('a', EncodeName(tx->ns, tx->id)));
  }
  AppendU64(&range.begin, from_seq);
  size_t byte_count = 0;
  Database::RangeIterator entries(db, kAuditFamily, std::move(range));
  for (entries->SeekToFirst();
       entries->Valid() && out->size() < limit && byte_count < kScanBytesMax; entries->Next()) {
    ChainEntry entry;
    const std::string_view key = entries.key();
    if (!DecodeChainEntry(entries.value(), &entry)) return DamagedChain();
    AuditEntry& added = out->emplace_back();
    added.seq = LoadU64(key.data() + key.size() - 8);
    added.payload = std::string(entry.payload);
    added.hash = std::string(AsBytes(entry.hash));
    added.digest = std::string(AsBytes(entry.digest));
    byte_count += entry.payload.size();
  }
  return entries.status();
}

}  // namespace agenttx
