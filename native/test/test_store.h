// Owns the short forms in which the tests talk to a store.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agenttx/store.h"
#include "test_batch.h"
#include "test_case.h"

namespace agenttx::test {

struct OpenedStore {
  TempFolder folder;
  std::shared_ptr<Store> store;
};

StoreOptions OptionsFor(const std::string& path, bool sync_writes = false);
std::shared_ptr<Store> MustOpen(const StoreOptions& options);
std::unique_ptr<OpenedStore> NewStore(bool sync_writes = false);

TransactionRef Begin(Store& store, const std::string& id, bool serializable = false);
// One step: the writes, the next snapshot, the next expected step.
void Step(Store& store, const TransactionRef& tx, BatchBuilder writes);
std::string Get(Store& store, const TransactionRef& tx, std::string_view key,
                bool validate = false);  // "(none)" when absent
std::string GetCommitted(Store& store, std::string_view key);
uint64_t CommittedVersion(Store& store, std::string_view key);
CommitResult Commit(Store& store, const TransactionRef& tx);
// Begins, puts and commits.
uint64_t CommitPut(Store& store, const std::string& id, std::string_view key,
                   std::string_view value);
// Goes back as the engine does: the expected step follows, and a reset to 0 takes snapshot 1 again.
RestoreResult Restore(Store& store, const TransactionRef& tx, uint32_t step);
uint64_t CommitDelete(Store& store, const std::string& id, std::string_view key);
std::string Joined(const std::vector<Entry>& entries);  // "k=v k=v"
std::string ScanAll(Store& store, const TransactionRef& tx, bool reverse = false);

}  // namespace agenttx::test
