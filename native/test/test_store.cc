// Owns the short forms in which the tests talk to a store; see test_store.h.
#include "test_store.h"

#include <algorithm>
#include <future>

namespace agenttx::test {

StoreOptions OptionsFor(const std::string& path, bool sync_writes) {
  StoreOptions options;
  options.path = path;
  options.sync_writes = sync_writes;
  options.free_space_reserve_bytes = 0;
  options.write_buffer_bytes = 8u << 20;
  options.block_cache_bytes = 8u << 20;
  return options;
}

std::shared_ptr<Store> MustOpen(const StoreOptions& options) {
  std::shared_ptr<Store> store;
  CHECK_OK(Store::Open(options, &store));
  return store;
}

std::unique_ptr<OpenedStore> NewStore(bool sync_writes) {
  auto opened = std::make_unique<OpenedStore>();
  opened->store = MustOpen(OptionsFor(opened->folder / "store", sync_writes));
  return opened;
}

TransactionRef Begin(Store& store, const std::string& id, bool serializable) {
  BeginOptions options;
  options.serializable = serializable;
  TransactionRef tx;
  CHECK_OK(store.Begin({"", id}, options, "", &tx));
  return tx;
}

void Step(Store& store, const TransactionRef& tx, BatchBuilder writes) {
  const uint32_t next = store.GetHeader(tx).step + 1;
  std::promise<Status> outcome;
  (void)store.Apply(tx, writes.Snapshot(next).NextStep(next), false,
                    [&](Status status) { outcome.set_value(std::move(status)); });
  CHECK_OK(outcome.get_future().get());
}

std::string Get(Store& store, const TransactionRef& tx, std::string_view key, bool validate) {
  std::optional<std::string> value;
  CHECK_OK(store.Get(tx, key, validate, &value));
  return value.value_or("(none)");
}

std::string GetCommitted(Store& store, std::string_view key) {
  std::optional<std::string> value;
  uint64_t version = 0;
  CHECK_OK(store.GetCommitted("", key, &value, &version));
  return value.value_or("(none)");
}

uint64_t CommittedVersion(Store& store, std::string_view key) {
  std::optional<std::string> value;
  uint64_t version = 0;
  CHECK_OK(store.GetCommitted("", key, &value, &version));
  return version;
}

CommitResult Commit(Store& store, const TransactionRef& tx) {
  CommitResult result;
  CHECK_OK(store.Commit(tx, "", &result));
  return result;
}

uint64_t CommitPut(Store& store, const std::string& id, std::string_view key,
                   std::string_view value) {
  TransactionRef tx = Begin(store, id);
  CHECK_OK(store.Apply(tx, BatchBuilder().Put(key, value), false, {}));
  return Commit(store, tx).commit_version;
}

RestoreResult Restore(Store& store, const TransactionRef& tx, uint32_t step) {
  BatchBuilder batch = BatchBuilder().NextStep(std::max(step, 1u));
  if (step == 0) batch.Snapshot(1);
  RestoreResult result;
  CHECK_OK(store.Restore(tx, step, batch, &result));
  return result;
}

uint64_t CommitDelete(Store& store, const std::string& id, std::string_view key) {
  TransactionRef tx = Begin(store, id);
  CHECK_OK(store.Apply(tx, BatchBuilder().Delete(key), false, {}));
  return Commit(store, tx).commit_version;
}

std::string Joined(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) {
    if (!text.empty()) text += ' ';
    text += entry.key + "=" + entry.value;
  }
  return text;
}

std::string ScanAll(Store& store, const TransactionRef& tx, bool reverse) {
  Range range;
  range.reverse = reverse;
  std::vector<Entry> entries;
  CHECK_OK(store.Scan(tx, range, &entries));
  return Joined(entries);
}

}  // namespace agenttx::test
