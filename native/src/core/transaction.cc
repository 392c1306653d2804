// Owns the memory of one open transaction and the table of them; see transaction.h.
#include "transaction.h"

namespace agenttx {

void Transaction::SetHeader(const TransactionState& new_state,
                            const std::string_view* new_payload) {
  std::lock_guard<std::mutex> lock(header_mutex_);
  state = new_state;
  if (new_payload != nullptr) payload.assign(*new_payload);
}

Header Transaction::CopyHeader() const {
  std::lock_guard<std::mutex> lock(header_mutex_);
  Header header;
  header.incarnation = state.incarnation;
  header.owner = state.owner;
  header.attempt = state.attempt;
  header.step = state.step;
  header.snapshot = state.snapshot;
  header.payload = payload;
  return header;
}

void Transaction::End() {
  phase = Phase::kEnded;
  journaled = {};
  reads.Clear();
}

TransactionRef TransactionTable::FindOrInsert(const std::string& name) {
  std::lock_guard<std::mutex> lock(mutex_);
  TransactionRef& slot = by_name_[name];
  if (slot == nullptr) slot = std::make_shared<Transaction>(name);
  return slot;
}

void TransactionTable::Forget(const Transaction* tx) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = by_name_.find(tx->name);
  if (found != by_name_.end() && found->second.get() == tx) by_name_.erase(found);
}

void TransactionTable::Clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  by_name_.clear();
}

}  // namespace agenttx
