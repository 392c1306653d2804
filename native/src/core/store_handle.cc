// Owns one opening of a store. Every method passes the gate, refuses after close, and lets no
// exception out.
#include "store_handle.h"

#include <atomic>
#include <exception>

#include "registry.h"
#include "verbs.h"

namespace agenttx {
namespace {

Status FromException(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return {Code::kResourceExhausted, "Memory ran out; nothing was changed."};
  }
  return {Code::kInternal, std::string("The storage failed: ") + error.what() + "."};
}

class StoreHandle final : public Store {
 public:
  explicit StoreHandle(std::shared_ptr<Database> db) : db_(std::move(db)) {}
  ~StoreHandle() override { (void)CloseNoThrow(); }

  uint64_t incarnation() const override { return db_->incarnation(); }
  bool sync_writes() const override { return db_->options().sync_writes; }
  std::vector<std::string> warnings() const override {
    Gate::Pass pass(&db_->gate);
    return db_->Warnings();
  }

  Status Begin(const TransactionName& name, const BeginOptions& options, std::string_view batch,
               TransactionRef* out) override {
    return Pass([&] {
      return Claimed(name, [&] { return BeginTransaction(db_.get(), name, options, batch, out); });
    });
  }
  Status Attach(const TransactionName& name, TransactionRef* out) override {
    return Pass([&] { return AttachTransaction(db_.get(), name, out); });
  }
  Status Fork(const TransactionName& from, uint32_t step, const TransactionName& name,
              const BeginOptions& options, std::string_view batch, TransactionRef* out) override {
    return Pass([&] {
      return Claimed(
          name, [&] { return ForkTransaction(db_.get(), from, step, name, options, batch, out); });
    });
  }
  Status Claim(const TransactionName& name, bool takes_over, bool* is_ours) override {
    return Pass([&] {
      Status status = RequireOpen(db_.get(), name);
      if (!status.ok()) return status;
      const std::string encoded = EncodeName(name.ns, name.id);
      const Claims::Answer answer = db_->claims.Claim(encoded, this, takes_over);
      *is_ours = takes_over || answer != Claims::Answer::kOthers;
      return status;
    });
  }
  Status TryLock(const std::string& name, uint64_t* token) override {
    return Pass([&] {
      *token = db_->locks.TryLock(name, this);
      return Status::Ok();
    });
  }
  void Unlock(const std::string& name, uint64_t token) override { db_->locks.Unlock(name, token); }
  Status OpenTransactions(const std::optional<TransactionName>& after, uint32_t limit,
                          std::vector<OpenTransaction>* out) override {
    return Pass([&] { return ListOpenTransactions(db_.get(), after, limit, out); });
  }

  Header GetHeader(const TransactionRef& tx) override { return tx->CopyHeader(); }
  Status BeginAttempt(const TransactionRef& tx, uint64_t* attempt) override {
    return Pass([&] { return agenttx::BeginAttempt(db_.get(), tx, attempt); });
  }
  Status Get(const TransactionRef& tx, std::string_view key, bool validate,
             std::optional<std::string>* value) override {
    return Pass([&] { return GetInTransaction(db_.get(), tx, key, validate, value); });
  }
  Status Scan(const TransactionRef& tx, const Range& range, std::vector<Entry>* out) override {
    return Pass([&] { return ScanInTransaction(db_.get(), tx, range, out); });
  }

  Status Apply(const TransactionRef& tx, std::string_view batch, bool no_slowdown,
               Done done) override {
    const bool is_queued = sync_writes();
    Status status = Pass(
        [&] { return ApplyBatch(db_.get(), tx, batch, no_slowdown, is_queued ? done : Done()); });
    // Outside of the gate: `done` may call the store again.
    if (done && (!is_queued || !status.ok())) done(status);
    return status;
  }
  Status Restore(const TransactionRef& tx, uint32_t step, std::string_view batch,
                 RestoreResult* out) override {
    return Pass([&] { return RestoreSnapshot(db_.get(), tx, step, batch, out); });
  }
  Status Commit(const TransactionRef& tx, std::string_view batch, CommitResult* out) override {
    return Pass([&] { return Released(tx, CommitTransaction(db_.get(), tx, batch, out)); });
  }
  Status Discard(const TransactionRef& tx, std::string_view batch) override {
    return Pass([&] { return Released(tx, DiscardTransaction(db_.get(), tx, batch)); });
  }
  void Touched(const TransactionRef& tx, uint64_t* read, uint64_t* written) override {
    CountTouched(tx, read, written);
  }

  Status GetCommitted(std::string_view ns, std::string_view key, std::optional<std::string>* value,
                      uint64_t* version) override {
    return Pass([&] { return agenttx::GetCommitted(db_.get(), ns, key, value, version); });
  }
  Status ScanCommitted(std::string_view ns, const Range& range, std::vector<Entry>* out) override {
    return Pass([&] { return agenttx::ScanCommitted(db_.get(), ns, range, out); });
  }
  Status ReadRecord(const TransactionName& tx, RecordSpace space, uint32_t step, uint64_t seq,
                    std::string_view name, std::optional<std::string>* value) override {
    return Pass([&] { return agenttx::ReadRecord(db_.get(), tx, space, step, seq, name, value); });
  }
  Status ScanRecords(const TransactionName& tx, bool all, RecordSpace space, uint32_t from_step,
                     const std::optional<RecordEntry>& after, uint32_t limit,
                     std::vector<RecordEntry>* out) override {
    return Pass([&] {
      return agenttx::ScanRecords(db_.get(), tx, all, space, from_step, after, limit, out);
    });
  }
  Status WriteRecords(const TransactionName& tx, std::string_view batch) override {
    return Pass([&] { return agenttx::WriteRecords(db_.get(), tx, batch); });
  }
  Status ReadAudit(const std::optional<TransactionName>& tx, uint64_t from_seq, uint32_t limit,
                   std::vector<AuditEntry>* out) override {
    return Pass([&] { return agenttx::ReadAudit(db_.get(), tx, from_seq, limit, out); });
  }

  Status Checkpoint(const std::string& path) override {
    return Pass([&] { return CreateCheckpoint(db_.get(), path); });
  }
  Status GetStats(Stats* out) override {
    return Pass([&] { return CollectStats(db_.get(), out); });
  }

  Status Reopen() override {
    if (is_closed_) return Closed();
    try {
      return db_->Reopen();
    } catch (const std::exception& error) {
      return FromException(error);
    }
  }
  Status Close() override { return CloseNoThrow(); }

 private:
  static Status Closed() { return {Code::kStoreClosed, "The store is closed; nothing was done."}; }

  // Claimed before it is there: nobody finds it unclaimed.
  template <typename Call>
  Status Claimed(const TransactionName& name, const Call& begin) {
    const std::string encoded = EncodeName(name.ns, name.id);
    const Claims::Answer answer = db_->claims.Claim(encoded, this, false);
    Status status;
    try {
      status = begin();
    } catch (...) {
      if (answer == Claims::Answer::kNew) db_->claims.Release(encoded);
      throw;
    }
    // It is there already, so that this allocates nothing.
    if (status.ok() && answer == Claims::Answer::kOthers) db_->claims.Claim(encoded, this, true);
    if (!status.ok() && answer == Claims::Answer::kNew) db_->claims.Release(encoded);
    return status;
  }

  Status Released(const TransactionRef& tx, Status status) {
    if (status.ok()) db_->claims.Release(tx->name);
    return status;
  }

  template <typename Call>
  Status Pass(const Call& call) {
    try {
      Gate::Pass pass(&db_->gate);
      if (is_closed_.load(std::memory_order_acquire)) return Closed();
      Status status = db_->CheckOpen();
      return status.ok() ? call() : status;
    } catch (const std::exception& error) {
      return FromException(error);
    }
  }

  // Nothing in it allocates: a store that cannot be closed would stay locked for good.
  Status CloseNoThrow() noexcept {
    if (is_closed_.exchange(true)) return Status::Ok();
    { Gate::Closed wait_for_calls(&db_->gate); }
    db_->writer->Drain();
    db_->claims.ReleaseAllOf(this);
    db_->locks.FreeAllOf(this);
    Registry::Process().Release(db_);
    return Status::Ok();
  }

  const std::shared_ptr<Database> db_;
  std::atomic<bool> is_closed_{false};
};

}  // namespace

Status OpenStoreOn(rocksdb::Env* env, const StoreOptions& options, std::shared_ptr<Store>* out) {
  try {
    if (options.path.empty()) return {Code::kInvalidArgument, "The path of the store is empty."};
    StoreOptions canonical = options;
    canonical.path = CanonicalPath(options.path);
    std::shared_ptr<Database> db;
    Status status = Registry::Process().Acquire(canonical, env, &db);
    if (!status.ok()) return status;
    try {
      *out = std::make_shared<StoreHandle>(db);
    } catch (...) {
      Registry::Process().Release(db);
      throw;
    }
    return status;
  } catch (const std::exception& error) {
    return FromException(error);
  }
}

Status Store::Open(const StoreOptions& options, std::shared_ptr<Store>* out) {
  return OpenStoreOn(nullptr, options, out);
}

}  // namespace agenttx
