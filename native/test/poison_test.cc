// Goal: after a failed write nothing is written until the store is reopened; reads go on (S10).
// Method: a file system whose log fails on command.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>

#include "failing_disk.h"
#include "store_handle.h"
#include "test_store.h"

using namespace agenttx;
using namespace agenttx::test;

namespace {

struct FailingStore {
  TempFolder folder;
  FailingDisk disk;
  std::shared_ptr<Store> store;

  explicit FailingStore(bool sync_writes) {
    CHECK_OK(OpenStoreOn(disk.env(), OptionsFor(folder / "store", sync_writes), &store));
  }
};

void FailsAndHeals(bool sync_writes, DiskFailure failure) {
  FailingStore failing(sync_writes);
  Store& store = *failing.store;
  CommitPut(store, "base", "k", "1");
  TransactionRef tx = Begin(store, "tx");
  CHECK_OK(store.WriteRecords({"", ""}, BatchBuilder().Record(RecordSpace::kMeta, 0, 0, "0", "m")));
  CommitResult committed;
  failing.disk.FailWith(failure);
  CHECK_CODE(store.WriteRecords({"", ""}, BatchBuilder().Record(RecordSpace::kMeta, 0, 0, "1", "")),
             kStorePoisoned);
  // The disk is fine again, but nobody knows what is on it.
  failing.disk.FailWith(DiskFailure::kNone);
  CHECK_CODE(store.WriteRecords({"", ""}, BatchBuilder().Record(RecordSpace::kMeta, 0, 0, "2", "")),
             kStorePoisoned);
  CHECK_CODE(store.Commit(tx, "", &committed), kStorePoisoned);
  CHECK_EQ(GetCommitted(store, "k"), "1");
  CHECK_EQ(Get(store, tx, "k"), "1");
  Stats stats;
  CHECK_OK(store.GetStats(&stats));
  CHECK(!stats.poisoned.empty());
  const uint64_t incarnation = store.incarnation();
  CHECK_OK(store.Reopen());
  CHECK(store.incarnation() != incarnation);
  CHECK_CODE(store.Commit(tx, "", &committed), kStaleOwner);
  CHECK_OK(store.Attach({"", "tx"}, &tx));
  CHECK_OK(store.Apply(tx, BatchBuilder().Put("k", "2"), false, {}));
  Commit(store, tx);
  CHECK_EQ(GetCommitted(store, "k"), "2");
}

}  // namespace

TEST(AFullDiskPoisonsUntilReopened) { FailsAndHeals(false, DiskFailure::kWalAppend); }
TEST(AFullDiskPoisonsASyncedStoreUntilReopened) { FailsAndHeals(true, DiskFailure::kWalAppend); }
TEST(AFailedSyncPoisonsUntilReopened) { FailsAndHeals(true, DiskFailure::kWalSync); }

TEST(ACommitCaughtInAFailureHasAnUnknownOutcome) {
  for (const bool sync_writes : {false, true}) {
    FailingStore failing(sync_writes);
    Store& store = *failing.store;
    TransactionRef tx = Begin(store, "tx");
    CHECK_OK(store.WriteRecords({"", ""}, ""));
    failing.disk.FailWith(sync_writes ? DiskFailure::kWalSync : DiskFailure::kWalAppend);
    CommitResult committed;
    const BatchBuilder terminal =
        BatchBuilder().Record(RecordSpace::kTerminal, 0, 0, "", "committed");
    CHECK_CODE(store.Commit(tx, terminal, &committed), kOutcomeUnknown);
    failing.disk.FailWith(DiskFailure::kNone);
    CHECK_OK(store.Reopen());
    // The terminal record and the transaction's own record agree, whichever way it went.
    std::optional<std::string> record;
    CHECK_OK(store.ReadRecord({"", "tx"}, RecordSpace::kTerminal, 0, 0, "", &record));
    const Status attached = store.Attach({"", "tx"}, &tx);
    CHECK(attached.ok() != record.has_value());
  }
}

TEST(AReopenThatFailsCanBeRepeated) {
  FailingStore failing(false);
  Store& store = *failing.store;
  CommitPut(store, "base", "k", "1");
  failing.disk.FailWith(DiskFailure::kWalAppend);
  CHECK_CODE(store.WriteRecords({"", "x"}, BatchBuilder().Record(RecordSpace::kMeta, 0, 0, "", "")),
             kStorePoisoned);
  CHECK(!store.Reopen().ok());
  std::optional<std::string> value;
  uint64_t version = 0;
  CHECK_CODE(store.GetCommitted("", "k", &value, &version), kStorePoisoned);
  failing.disk.FailWith(DiskFailure::kNone);
  CHECK_OK(store.Reopen());
  CHECK_EQ(GetCommitted(store, "k"), "1");
}

// RocksDB's own recovery from a full disk waited for the write queue, at whose head a stalled write
// waited for that recovery: neither ended.
TEST(ADiskThatWasFullForOneFlushEndsWritingAndNotTheAnswers) {
  for (const bool sync_writes : {false, true}) {
    TempFolder folder;
    FailingDisk disk;
    std::shared_ptr<Store> store;
    StoreOptions options = OptionsFor(folder / "store", sync_writes);
    options.write_buffer_bytes = 64u << 10;
    CHECK_OK(OpenStoreOn(disk.env(), options, &store));
    CommitPut(*store, "base", "k", "1");
    disk.FailWith(DiskFailure::kTableOnce);
    // Each writes what two memtables hold: behind a failed flush the later ones stall.
    std::future<Status> last = std::async(std::launch::async, [&] {
      Status status;
      for (int i = 0; i < 200 && status.ok(); i++) {
        const BatchBuilder batch = BatchBuilder().Record(RecordSpace::kMeta, 0, 0,
                                                         std::to_string(i), std::string(8000, 'v'));
        status = store->WriteRecords({"", ""}, batch);
      }
      return status;
    });
    if (last.wait_for(std::chrono::seconds(30)) != std::future_status::ready) {
      std::fprintf(stderr, "a write is still waiting\n");
      std::abort();  // it would never end, nor would the future
    }
    CHECK_CODE(last.get(), kStorePoisoned);
    CHECK_EQ(GetCommitted(*store, "k"), "1");
    CHECK_OK(store->Reopen());
    CommitPut(*store, "after", "k", "2");
    CHECK_EQ(GetCommitted(*store, "k"), "2");
  }
}
