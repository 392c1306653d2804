// Goal: begin, read, write, fence and limits of one transaction (S5, S11, E6).
#include "test_store.h"

using namespace agenttx;
using namespace agenttx::test;

TEST(AnOverlayIsSeenByItsTransactionOnly) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  CommitPut(store, "first", "k", "committed");
  const TransactionRef a = Begin(store, "a");
  const TransactionRef b = Begin(store, "b");
  Step(store, a, BatchBuilder().Put("k", "mine").Put("new", "1"));
  CHECK_EQ(Get(store, a, "k"), "mine");
  CHECK_EQ(Get(store, b, "k"), "committed");
  CHECK_EQ(Get(store, b, "new"), "(none)");
  CHECK_EQ(GetCommitted(store, "k"), "committed");
  Step(store, a, BatchBuilder().Delete("k"));
  CHECK_EQ(Get(store, a, "k"), "(none)");
  CHECK_EQ(GetCommitted(store, "k"), "committed");
}

TEST(ANamespaceHidesItsKeysAndTransactionsFromOthers) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  TransactionRef a;
  TransactionRef b;
  CHECK_OK(store.Begin({"a", "tx"}, {}, "", &a));
  CHECK_OK(store.Begin({"b", "tx"}, {}, "", &b));
  CHECK_OK(store.Apply(a, BatchBuilder().Put("k", "of a"), false, {}));
  CommitResult result;
  CHECK_OK(store.Commit(a, "", &result));
  CHECK_EQ(Get(store, b, "k"), "(none)");
  std::optional<std::string> value;
  uint64_t version = 0;
  CHECK_OK(store.GetCommitted("a", "k", &value, &version));
  CHECK_EQ(value.value_or(""), "of a");
  CHECK_OK(store.GetCommitted("", "ak", &value, &version));
  CHECK(!value.has_value());
}

TEST(AnyBytesAreKeys) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  const std::string keys[] = {
      std::string("\0", 1), std::string("\0\0", 2), "\xFF", "\xFF\xFF", "/", "s/", "x/\x01"};
  for (const std::string& key : keys) Step(store, tx, BatchBuilder().Put(key, key));
  for (const std::string& key : keys) CHECK_EQ(Get(store, tx, key), key);
  Commit(store, tx);
  for (const std::string& key : keys) CHECK_EQ(GetCommitted(store, key), key);
}

TEST(ANameIsUsedOnce) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef open = Begin(store, "open");
  TransactionRef again;
  CHECK_CODE(store.Begin({"", "open"}, {}, "", &again), kTransactionExists);
  Commit(store, open);
  CHECK_CODE(store.Begin({"", "open"}, {}, "", &again), kTransactionExists);
  const TransactionRef dropped = Begin(store, "dropped");
  CHECK_OK(store.Discard(dropped, ""));
  CHECK_CODE(store.Begin({"", "dropped"}, {}, "", &again), kTransactionExists);
  CHECK_OK(store.WriteRecords({"", "dropped"}, BatchBuilder().ChainErase()));
  CHECK_OK(store.Begin({"", "dropped"}, {}, "", &again));
}

TEST(AnEndedTransactionRefusesLateCalls) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  Step(store, tx, BatchBuilder().Put("k", "v"));
  CHECK_OK(store.Discard(tx, ""));
  std::optional<std::string> value;
  RestoreResult restored;
  CommitResult committed;
  TransactionRef attached;
  CHECK_CODE(store.Apply(tx, BatchBuilder().Put("k", "late"), false, {}), kTransactionEnded);
  CHECK_CODE(store.Get(tx, "k", false, &value), kTransactionEnded);
  CHECK_CODE(store.Restore(tx, 1, "", &restored), kTransactionEnded);
  CHECK_CODE(store.Commit(tx, "", &committed), kTransactionEnded);
  CHECK_CODE(store.Discard(tx, ""), kTransactionEnded);
  CHECK_CODE(store.Attach({"", "tx"}, &attached), kNotFound);
  CHECK_EQ(GetCommitted(store, "k"), "(none)");
}

TEST(AFenceIsComparedBeforeAnythingIsWritten) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  CHECK_OK(store.Apply(tx, BatchBuilder().Fence(1, 0, 1).Put("k", "1").NextStep(2), false, {}));
  CHECK_CODE(store.Apply(tx, BatchBuilder().Fence(2, 0, 2).Put("k", "x"), false, {}), kStaleOwner);
  CHECK_CODE(store.Apply(tx, BatchBuilder().Fence(1, 1, 2).Put("k", "x"), false, {}),
             kStaleAttempt);
  CHECK_CODE(store.Apply(tx, BatchBuilder().Fence(1, 0, 1).Put("k", "x"), false, {}),
             kStepOutOfOrder);
  uint64_t attempt = 0;
  CHECK_OK(store.BeginAttempt(tx, &attempt));
  CHECK_EQ(attempt, 1u);
  CHECK_CODE(store.Apply(tx, BatchBuilder().Fence(1, 0, 2).Put("k", "x"), false, {}),
             kStaleAttempt);
  CHECK_OK(store.Apply(tx, BatchBuilder().Fence(1, 1, 2).NextOwner(9), false, {}));
  CHECK_CODE(store.Apply(tx, BatchBuilder().Fence(1, 1, 2).Put("k", "x"), false, {}), kStaleOwner);
  CHECK_CODE(store.Apply(tx, BatchBuilder().NextOwner(3), false, {}), kInvalidArgument);
  CHECK_EQ(Get(store, tx, "k"), "1");
}

TEST(LateEvidenceIsKeptAndNothingElse) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  const BatchBuilder late = BatchBuilder()
                                .Fence(1, 7, 1)
                                .Put("k", "late")
                                .Record(RecordSpace::kEffect, 1, 1, "", "late")
                                .Audit("late")
                                .Evidence("it happened");
  CHECK_CODE(store.Apply(tx, late, false, {}), kStaleAttempt);
  CHECK_CODE(store.Apply(tx, late, false, {}), kStaleAttempt);
  std::vector<RecordEntry> records;
  CHECK_OK(store.ScanRecords({"", "tx"}, false, RecordSpace::kLate, 0, {}, 10, &records));
  CHECK_EQ(records.size(), 2u);
  CHECK_EQ(records[0].value, "it happened");
  CHECK_EQ(records[0].seq, 1u);
  CHECK_EQ(records[1].seq, 2u);
  CHECK_OK(store.ScanRecords({"", "tx"}, false, RecordSpace::kEffect, 0, {}, 10, &records));
  CHECK(records.empty());
  CHECK_EQ(Get(store, tx, "k"), "(none)");
}

TEST(LateEvidenceIsNumberedPerTransactionAcrossRestarts) {
  TempFolder folder;
  for (const bool sync_writes : {false, true}) {
    const StoreOptions options = OptionsFor(folder / (sync_writes ? "sync" : "plain"), sync_writes);
    std::shared_ptr<Store> store = MustOpen(options);
    CHECK_OK(store->WriteRecords({"", "tx1"},
                                 BatchBuilder().Record(RecordSpace::kLate, 0, 900, "", "other")));
    TransactionRef tx = Begin(*store, "tx");
    const BatchBuilder late = BatchBuilder().Fence(1, 7, 1).Evidence("late");
    RestoreResult restored;
    CommitResult committed;
    CHECK_CODE(store->Restore(tx, 1, late, &restored), kStaleAttempt);
    CHECK_CODE(store->Commit(tx, late, &committed), kStaleAttempt);
    CHECK_OK(store->Close());
    store = MustOpen(options);
    CHECK_OK(store->Attach({"", "tx"}, &tx));
    CHECK_CODE(store->Discard(tx, late), kStaleAttempt);
    CHECK_OK(store->Discard(tx, ""));
    std::vector<RecordEntry> records;
    CHECK_OK(store->ScanRecords({"", "tx"}, false, RecordSpace::kLate, 0, {}, 10, &records));
    CHECK_EQ(records.size(), 3u);
    for (size_t i = 0; i < records.size(); i++) CHECK_EQ(records[i].seq, i + 1);
  }
}

TEST(LimitsOfATransactionAreKept) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  BeginOptions options;
  options.keys_max = 2;
  options.bytes_max = 10'000;
  TransactionRef tx;
  CHECK_OK(store.Begin({"", "tx"}, options, "", &tx));
  CHECK_OK(store.Apply(tx, BatchBuilder().Put("a", "1").Put("b", "1"), false, {}));
  CHECK_CODE(store.Apply(tx, BatchBuilder().Put("c", "1"), false, {}), kPayloadTooLarge);
  CHECK_OK(store.Apply(tx, BatchBuilder().Put("a", "2"), false, {}));
  CHECK_CODE(store.Apply(tx, BatchBuilder().Put("a", std::string(10'000, 'x')), false, {}),
             kPayloadTooLarge);
  CHECK_EQ(Get(store, tx, "a"), "2");
  CHECK_EQ(Get(store, tx, "c"), "(none)");
  uint64_t read = 0;
  uint64_t written = 0;
  store.Touched(tx, &read, &written);
  CHECK_EQ(written, 2u);
}

TEST(AVerbRefusesPartsThatItDoesNotTake) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  TransactionRef tx;
  CHECK_CODE(store.Begin({"", "tx"}, {}, BatchBuilder().Put("k", "v"), &tx), kInvalidArgument);
  tx = Begin(store, "tx");
  CommitResult committed;
  RestoreResult restored;
  CHECK_CODE(store.Commit(tx, BatchBuilder().Put("k", "v"), &committed), kInvalidArgument);
  CHECK_CODE(store.Restore(tx, 1, BatchBuilder().Put("k", "v"), &restored), kInvalidArgument);
  CHECK_CODE(store.Commit(tx, BatchBuilder().Snapshot(2), &committed), kInvalidArgument);
  CHECK_CODE(store.Discard(tx, BatchBuilder().Payload("p")), kInvalidArgument);
  CHECK_CODE(store.WriteRecords({"", ""}, BatchBuilder().Put("k", "v")), kInvalidArgument);
  CHECK_CODE(store.WriteRecords({"", ""}, BatchBuilder().Fence(1, 0, 1)), kInvalidArgument);
  CHECK_CODE(store.Apply(tx, BatchBuilder().ChainErase(), false, {}), kInvalidArgument);
}

TEST(ABatchIsDoneAsAWholeOrNotAtAll) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  const BatchBuilder bad = BatchBuilder().Put("a", "1").NextOwner(0).Put("b", "1");
  CHECK_CODE(store.Apply(tx, bad, false, {}), kInvalidArgument);
  CHECK_EQ(Get(store, tx, "a"), "(none)");
  CHECK_EQ(store.GetHeader(tx).owner, 1u);
  int calls = 0;
  Code heard = Code::kOk;
  const Status status = store.Apply(tx, bad, false, [&](Status outcome) {
    calls++;
    heard = outcome.code();
  });
  CHECK_CODE(status, kInvalidArgument);
  CHECK_EQ(calls, 1);
  CHECK(heard == Code::kInvalidArgument);
}

TEST(NewWorkIsRefusedBelowTheReserveOfFreeSpace) {
  TempFolder folder;
  StoreOptions options = OptionsFor(folder / "store");
  const std::shared_ptr<Store> roomy = MustOpen(options);
  const TransactionRef kept = Begin(*roomy, "kept");
  Step(*roomy, kept, BatchBuilder().Put("k", "v"));
  CHECK_OK(roomy->Close());
  options.free_space_reserve_bytes = 1ull << 62;
  const std::shared_ptr<Store> full = MustOpen(options);
  TransactionRef tx;
  CHECK_CODE(full->Begin({"", "new"}, {}, "", &tx), kResourceExhausted);
  CHECK_OK(full->Attach({"", "kept"}, &tx));
  CHECK_CODE(full->Apply(tx, BatchBuilder().Put("k", "w"), false, {}), kResourceExhausted);
  CHECK_EQ(Get(*full, tx, "k"), "v");
  // What takes back needs no reserve.
  RestoreResult restored;
  CHECK_OK(full->Restore(tx, 1, "", &restored));
  CHECK_OK(full->Discard(tx, ""));
  CHECK_OK(full->WriteRecords({"", "kept"},
                              BatchBuilder().Record(RecordSpace::kEffect, 0, 1, "", "undone")));
}
