// Owns the beginning of a transaction: t/, m/0 and m/1 in one batch with what the caller adds.
#include "attach.h"
#include "batch_parts.h"
#include "verbs.h"

namespace agenttx {
namespace {

Status Exists() {
  return {Code::kTransactionExists,
          "A transaction of this name is open or has ended; names are used once. Nothing was "
          "written."};
}

class BeginWork final : public NamedWork {
 public:
  BeginWork(Database* db, const BeginOptions& options, Batch batch)
      : db_(db), options_(options), batch_(std::move(batch)) {
    publishes = !batch_.store_audit.empty();
    no_slowdown = options_.no_slowdown;
  }

  Status Prepare(Group* group) override {
    Status status = LoadNamed(db_, tx.get(), &must_retry);
    if (!status.ok()) return status;
    if (tx->phase == Transaction::Phase::kOpen) return Exists();
    status = RefuseEnded();
    if (!status.ok()) return status;
    state_ = NewState(db_, options_, tx->name);
    status = ApplyNext(batch_, &state_);
    if (status.ok()) status = AddCommonParts(group, tx->name, batch_, &state_);
    if (status.ok()) status = PutSnapshot(group, tx->name, 0, {state_.next_seq, state_.extent});
    if (status.ok()) status = PutSnapshot(group, tx->name, 1, {state_.next_seq, state_.extent});
    if (!status.ok()) return status;
    return PutHeader(group, tx->name, state_, payload());
  }

  void Install() noexcept override {
    const std::string_view payload_view = payload();
    tx->SetHeader(state_, &payload_view);
    tx->phase = Transaction::Phase::kOpen;
    db_->open_count.fetch_add(1, std::memory_order_relaxed);
  }

  static TransactionState NewState(Database* db, const BeginOptions& options,
                                   std::string_view name);

 private:
  std::string_view payload() const { return batch_.payload.value_or(std::string_view()); }

  // A name that has ended stays ended: a late call of its old life must not meet a new one.
  Status RefuseEnded() {
    rocksdb::PinnableSlice value;
    bool found = false;
    Status status = db_->Get(kAuditFamily, ChainHeadKey(tx->name), &value, &found);
    if (!status.ok()) return status;
    return found ? Exists() : status;
  }

  Database* const db_;
  const BeginOptions options_;
  const Batch batch_;
  TransactionState state_;
};

TransactionState BeginWork::NewState(Database* db, const BeginOptions& options,
                                     std::string_view name) {
  TransactionState state;
  state.incarnation = db->incarnation();
  state.bytes_max = options.bytes_max;
  state.keys_max = options.keys_max;
  state.serializable = options.serializable;
  state.base_commit = db->commit_version.load(std::memory_order_acquire);
  state.audit = EmptyChain(name);
  return state;
}

}  // namespace

Status BeginTransaction(Database* db, const TransactionName& name, const BeginOptions& options,
                        std::string_view batch_bytes, TransactionRef* out) {
  Status status = CheckName(name.ns, name.id, false);
  if (status.ok()) status = db->free_space->CheckForNewWork();
  Batch batch;
  if (status.ok()) status = DecodeFor("begin", kTakesHeader, batch_bytes, &batch);
  if (!status.ok()) return status;
  BeginWork work(db, options, std::move(batch));
  status = RunNamed(db, EncodeName(name.ns, name.id), &work);
  if (status.ok()) *out = work.tx;
  return status;
}

}  // namespace agenttx
