// Owns finding and adopting open transactions.
#include "attach.h"

#include "batch_parts.h"
#include "bytes.h"
#include "read_view.h"
#include "verbs.h"

namespace agenttx {
namespace {

Status DamagedRecord(const char* what) {
  return {Code::kStoreCorrupt,
          std::string("A ") + what + " record of the store is damaged. Nothing was changed."};
}

Status LoadReads(Database* db, Transaction* tx) {
  tx->reads.Clear();  // what a try left that ran out of memory
  std::string prefix = TransactionPrefix('v', tx->name);
  const size_t prefix_bytes = prefix.size();
  Database::RangeIterator rows(db, kSnapshots, PrefixRange(std::move(prefix)));
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    const std::string_view key = rows.key();
    if (key.size() != prefix_bytes + 8) return DamagedRecord("read set");
    if (!tx->reads.LoadRecord(LoadU64(key.data() + prefix_bytes), rows.value())) {
      return DamagedRecord("read set");
    }
  }
  return rows.status();
}

// Looks behind the header that t/ holds for newer numbers (H1).
class NewestState {
 public:
  NewestState(Database* db, const rocksdb::Snapshot* view)
      : snapshots_(db, kSnapshots, PrefixRange("m/"), view) {}

  // False: the record that holds them is damaged.
  bool Load(std::string_view name, TransactionState* state) {
    const std::string prefix = TransactionPrefix('m', name);
    snapshots_->SeekForPrev(SnapshotKey(name, UINT32_MAX));
    if (!snapshots_->Valid()) return true;
    const std::string_view key = snapshots_.key();
    if (key.size() != prefix.size() + 4 || !key.starts_with(prefix)) return true;
    const uint32_t step = LoadU32(key.data() + prefix.size());
    return step <= state->snapshot || DecodeMovedState(snapshots_.value(), step, state);
  }
  Status status() const { return snapshots_.status(); }

 private:
  Database::RangeIterator snapshots_;
};

// Makes this opening of the store the one that owns the handle (E6).
class AdoptWork final : public NamedWork {
 public:
  explicit AdoptWork(Database* db) : db_(db) {}

  Status Prepare(Group* group) override {
    Status status = LoadNamed(db_, tx.get(), &must_retry);
    if (!status.ok()) return status;
    if (tx->phase != Transaction::Phase::kOpen) {
      tx->phase = Transaction::Phase::kEnded;  // retired: others look for the name again
      return {Code::kNotFound, "There is no open transaction of this name."};
    }
    state_ = tx->state;
    if (state_.incarnation == db_->incarnation()) return status;
    state_.incarnation = db_->incarnation();
    return PutHeader(group, tx->name, state_, tx->payload);
  }

  void Install() noexcept override { tx->SetHeader(state_, nullptr); }

 private:
  Database* const db_;
  TransactionState state_;
};

}  // namespace

Status LoadTransaction(Database* db, Transaction* tx) {
  if (tx->phase != Transaction::Phase::kUnloaded) return Status::Ok();
  rocksdb::PinnableSlice value;
  bool found = false;
  Status status = db->Get(kSnapshots, HeaderKey(tx->name), &value, &found);
  if (!status.ok() || !found) return status;
  TransactionState state;
  std::string_view payload;
  if (!DecodeHeader(value.ToStringView(), &state, &payload)) {
    return DamagedRecord("transaction");
  }
  NewestState newest(db, nullptr);
  if (!newest.Load(tx->name, &state)) return DamagedRecord("snapshot");
  status = newest.status();
  if (!status.ok()) return status;
  if (state.has_read_set) status = LoadReads(db, tx);
  if (!status.ok()) {
    tx->reads.Clear();
    return status;
  }
  tx->SetHeader(state, &payload);
  tx->phase = Transaction::Phase::kOpen;
  return status;
}

Status LoadNamed(Database* db, Transaction* tx, bool* must_retry) {
  *must_retry = tx->phase == Transaction::Phase::kEnded;
  if (*must_retry) return {Code::kTransactionEnded, "The transaction has ended."};
  return LoadTransaction(db, tx);
}

Status RunNamed(Database* db, const std::string& encoded_name, NamedWork* work) {
  for (;;) {
    work->tx = db->transactions.FindOrInsert(encoded_name);
    if (!work->other_name.empty()) {
      work->other = db->transactions.FindOrInsert(work->other_name);
    }
    const Status status = db->writer->Run(work);
    for (const Transaction* found : {work->tx.get(), work->other.get()}) {
      if (found != nullptr && found->phase.load() != Transaction::Phase::kOpen) {
        db->transactions.Forget(found);
      }
    }
    if (!work->must_retry) return status;
    work->must_retry = false;
  }
}

Status AttachTransaction(Database* db, const TransactionName& name, TransactionRef* out) {
  Status status = CheckName(name.ns, name.id, false);
  if (!status.ok()) return status;
  AdoptWork work(db);
  status = RunNamed(db, EncodeName(name.ns, name.id), &work);
  if (status.ok()) *out = work.tx;
  return status;
}

Status RequireOpen(Database* db, const TransactionName& name) {
  Status status = CheckName(name.ns, name.id, false);
  if (!status.ok()) return status;
  rocksdb::PinnableSlice value;
  bool found = false;
  status = db->Get(kSnapshots, HeaderKey(EncodeName(name.ns, name.id)), &value, &found);
  if (!status.ok() || found) return status;
  return {Code::kNotFound, "There is no open transaction of this name."};
}

Status ListOpenTransactions(Database* db, const std::optional<TransactionName>& after,
                            uint32_t limit, std::vector<OpenTransaction>* out) {
  out->clear();
  KeyRange range = PrefixRange("t/");
  if (after.has_value()) {
    Status status = CheckName(after->ns, after->id, false);
    if (!status.ok()) return status;
    range.begin = HeaderKey(EncodeName(after->ns, after->id));
    range.begin.push_back('\0');
  }
  const ReadView view(db);
  Database::RangeIterator headers(db, kSnapshots, std::move(range), view.get());
  NewestState newest(db, view.get());
  for (headers->SeekToFirst(); headers->Valid() && out->size() < limit; headers->Next()) {
    ParsedName name;
    std::string_view rest;
    TransactionState state;
    std::string_view payload;
    // One bad record must not block the others (C8): it is shown with an empty header.
    if (!ParseName(headers.key(), &name, &rest)) continue;
    OpenTransaction open;
    open.name = {std::string(name.ns), std::string(name.id)};
    if (DecodeHeader(headers.value(), &state, &payload) &&
        newest.Load(headers.key().substr(2), &state)) {
      open.header = {state.incarnation, state.owner,    state.attempt,
                     state.step,        state.snapshot, std::string(payload)};
    } else {
      open.header.owner = 0;
    }
    out->push_back(std::move(open));
  }
  const Status status = newest.status();
  return status.ok() ? headers.status() : status;
}

Status BeginAttempt(Database* db, const TransactionRef& tx, uint64_t* attempt) {
  std::lock_guard<std::mutex> lock(tx->mutex);
  Status status = CheckHandle(db, *tx);
  if (!status.ok()) return status;
  TransactionState state = tx->state;
  *attempt = ++state.attempt;
  tx->SetHeader(state, nullptr);
  return status;
}

}  // namespace agenttx
