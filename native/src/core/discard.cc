// Owns the end of a transaction without a commit: overlay, journal, snapshots, read sets, outputs
// and t/ go; what is needed to undo and to explain (u/ e/ q/ r/ f/ l/, audit) stays.
#include "batch_parts.h"
#include "removal.h"
#include "verbs.h"

namespace agenttx {
namespace {

class DiscardWork final : public Work {
 public:
  DiscardWork(Database* db, TransactionRef transaction, Batch batch)
      : db_(db), batch_(std::move(batch)) {
    tx = std::move(transaction);
    publishes = !batch_.store_audit.empty();
  }

  Status Prepare(Group* group) override {
    Status status = CheckHandle(db_, *tx);
    if (!status.ok()) return status;
    bool refused = false;
    status = FenceOrEvidence(group, tx->name, tx->state, batch_, &outcome, &refused);
    if (!status.ok() || refused) return status;
    TransactionState state = tx->state;
    status = RemoveTransaction(group, tx->name, state, false);
    if (status.ok()) status = AddCommonParts(group, tx->name, batch_, &state);
    if (!status.ok()) return status;
    return Put(group, kAuditFamily, ChainHeadKey(tx->name), EncodeChainHead(state.audit));
  }

  void Install() noexcept override {
    tx->End();
    db_->open_count.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  Database* const db_;
  const Batch batch_;
};

}  // namespace

Status DiscardTransaction(Database* db, const TransactionRef& tx, std::string_view batch_bytes) {
  Batch batch;
  Status status = DecodeFor("discard", kTakesFence, batch_bytes, &batch);
  if (!status.ok()) return status;
  DiscardWork work(db, tx, std::move(batch));
  status = db->writer->Run(&work);
  if (status.ok()) db->transactions.Forget(tx.get());
  return status;
}

}  // namespace agenttx
