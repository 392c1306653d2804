// Goal: first committer wins, versions are never reused, a commit is all or nothing (S6-S8).
#include <thread>

#include "test_store.h"

using namespace agenttx;
using namespace agenttx::test;

namespace {

std::string Conflicts(Store& store, const TransactionRef& tx) {
  CommitResult result;
  CHECK_CODE(store.Commit(tx, "", &result), kWriteConflict);
  std::string text;
  for (const std::string& key : result.conflict_keys) text += key + " ";
  return text;
}

}  // namespace

TEST(ACommitPublishesEverythingAndRemovesTheTransaction) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  CommitPut(store, "base", "gone", "x");
  const TransactionRef tx = Begin(store, "tx");
  Step(store, tx,
       BatchBuilder().Put("a", "1").Put("b", "2").Record(RecordSpace::kOutput, 1, 0, "", "out"));
  Step(store, tx, BatchBuilder().Delete("gone").Record(RecordSpace::kSaga, 2, 0, "", "undo"));
  CommitResult result;
  CHECK_OK(store.Commit(tx, BatchBuilder().Record(RecordSpace::kTerminal, 0, 0, "", "committed"),
                        &result));
  CHECK_EQ(result.commit_version, 2u);
  CHECK_EQ(result.keys_published, 3u);
  CHECK_EQ(GetCommitted(store, "a"), "1");
  CHECK_EQ(CommittedVersion(store, "a"), 2u);
  CHECK_EQ(GetCommitted(store, "gone"), "(none)");
  std::vector<RecordEntry> records;
  for (const RecordSpace space : {RecordSpace::kOutput, RecordSpace::kSaga}) {
    CHECK_OK(store.ScanRecords({"", "tx"}, false, space, 0, {}, 10, &records));
    CHECK(records.empty());
  }
  CHECK_OK(store.ScanRecords({"", "tx"}, false, RecordSpace::kTerminal, 0, {}, 10, &records));
  CHECK_EQ(records.size(), 1u);
  std::vector<OpenTransaction> open;
  CHECK_OK(store.OpenTransactions({}, 10, &open));
  CHECK(open.empty());
}

TEST(TheSecondCommitterOfAKeyLoses) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef a = Begin(store, "a");
  const TransactionRef b = Begin(store, "b");
  Step(store, a, BatchBuilder().Put("k", "a").Put("only-a", "1"));
  Step(store, b, BatchBuilder().Put("k", "b").Put("only-b", "1"));
  Commit(store, b);
  CHECK_EQ(Conflicts(store, a), "k ");
  CHECK_EQ(GetCommitted(store, "k"), "b");
  CHECK_EQ(GetCommitted(store, "only-a"), "(none)");
  // Nothing was lost by the refusal: the transaction is still there.
  CHECK_EQ(Get(store, a, "k"), "a");
  CHECK_OK(store.Discard(a, ""));
}

TEST(AReadThenWriteNeverLosesAnUpdate) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  CommitPut(store, "base", "k", "5");
  const TransactionRef tx = Begin(store, "tx");
  CHECK_EQ(Get(store, tx, "k"), "5");
  CommitPut(store, "other", "k", "6");
  Step(store, tx, BatchBuilder().Put("k", "5+1"));
  CHECK_EQ(Conflicts(store, tx), "k ");
}

TEST(ABlindWriteIsBasedOnWhatWasThereWhenItWasMade) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  CommitPut(store, "other", "k", "6");
  Step(store, tx, BatchBuilder().Put("k", "blind"));
  Commit(store, tx);
  CHECK_EQ(GetCommitted(store, "k"), "blind");
}

TEST(AnAbsentReadConflictsWithACreation) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  CHECK_EQ(Get(store, tx, "k"), "(none)");
  CommitPut(store, "other", "k", "created");
  Step(store, tx, BatchBuilder().Put("k", "mine"));
  CHECK_EQ(Conflicts(store, tx), "k ");
}

TEST(DeleteAndRecreateIsAConflict) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  CommitPut(store, "base", "k", "same");
  const TransactionRef tx = Begin(store, "tx");
  Step(store, tx, BatchBuilder().Put("k", "mine"));
  CommitDelete(store, "delete", "k");
  CommitPut(store, "recreate", "k", "same");
  CHECK_EQ(Conflicts(store, tx), "k ");
}

TEST(ADeletionIsAWriteLikeAnyOther) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  CommitPut(store, "base", "k", "1");
  const TransactionRef tx = Begin(store, "tx");
  Step(store, tx, BatchBuilder().Delete("k").Delete("never"));
  CommitPut(store, "other", "k", "2");
  CommitPut(store, "another", "never", "2");
  CHECK_EQ(Conflicts(store, tx), "k never ");
  CHECK_EQ(GetCommitted(store, "k"), "2");
}

TEST(ReadsAreNotValidatedUnlessAsked) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  CommitPut(store, "base", "k", "1");
  const TransactionRef plain = Begin(store, "plain");
  const TransactionRef checked = Begin(store, "checked");
  const TransactionRef serializable = Begin(store, "serializable", true);
  CHECK_EQ(Get(store, plain, "k"), "1");
  CHECK_EQ(Get(store, checked, "k", true), "1");
  CHECK_EQ(Get(store, serializable, "k"), "1");
  CommitPut(store, "other", "k", "2");
  Step(store, plain, BatchBuilder().Put("p", "1"));
  Step(store, checked, BatchBuilder().Put("c", "1"));
  Commit(store, plain);
  CHECK_EQ(Conflicts(store, checked), "k ");
  CHECK_EQ(Conflicts(store, serializable), "k ");
}

TEST(WriteSkewIsPossibleUnlessSerializable) {
  for (const bool serializable : {false, true}) {
    const auto opened = NewStore();
    Store& store = *opened->store;
    CommitPut(store, "x", "x", "1");
    CommitPut(store, "y", "y", "1");
    const TransactionRef a = Begin(store, "a", serializable);
    const TransactionRef b = Begin(store, "b", serializable);
    CHECK_EQ(Get(store, a, "x") + Get(store, a, "y"), "11");
    CHECK_EQ(Get(store, b, "x") + Get(store, b, "y"), "11");
    Step(store, a, BatchBuilder().Put("x", "0"));
    Step(store, b, BatchBuilder().Put("y", "0"));
    Commit(store, a);
    CommitResult result;
    const Status second = store.Commit(b, "", &result);
    CHECK(second.code() == (serializable ? Code::kWriteConflict : Code::kOk));
  }
}

TEST(ARestorePastTheFirstTouchForgetsTheBase) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  CommitPut(store, "base", "k", "1");
  const TransactionRef tx = Begin(store, "tx");
  Step(store, tx, BatchBuilder().Put("early", "1"));
  CHECK_EQ(Get(store, tx, "k"), "1");
  Step(store, tx, BatchBuilder().Put("k", "mine"));
  CommitPut(store, "other", "k", "2");
  RestoreResult restored;
  CHECK_OK(store.Restore(tx, 2, "", &restored));
  CHECK_EQ(Get(store, tx, "k"), "2");
  Step(store, tx, BatchBuilder().Put("k", "again"));
  Commit(store, tx);
  CHECK_EQ(GetCommitted(store, "k"), "again");
}

TEST(ARestoreAfterTheFirstTouchKeepsTheBase) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  CommitPut(store, "base", "k", "1");
  const TransactionRef tx = Begin(store, "tx");
  CHECK_EQ(Get(store, tx, "k"), "1");
  Step(store, tx, BatchBuilder().Put("k", "mine"));
  Step(store, tx, BatchBuilder().Put("k", "more"));
  CommitPut(store, "other", "k", "2");
  RestoreResult restored;
  CHECK_OK(store.Restore(tx, 2, "", &restored));
  CHECK_EQ(Conflicts(store, tx), "k ");
}

TEST(ValidationAskedForInAnUndoneStepIsForgotten) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  CommitPut(store, "base", "k", "1");
  const TransactionRef tx = Begin(store, "tx");
  CHECK_EQ(Get(store, tx, "k"), "1");
  Step(store, tx, BatchBuilder().Put("a", "1"));
  CHECK_EQ(Get(store, tx, "k", true), "1");
  Step(store, tx, BatchBuilder().Put("b", "1"));
  RestoreResult restored;
  CHECK_OK(store.Restore(tx, 2, "", &restored));
  CommitPut(store, "other", "k", "2");
  Commit(store, tx);
}

// The header's step says nothing about when a read was made: owners number steps as they like.
TEST(ARestoreForgetsTheReadsMadeAfterItsSnapshot) {
  for (const bool restarts : {false, true}) {
    for (const int later_batches : {0, 1, 300}) {
      TempFolder folder;
      const StoreOptions options = OptionsFor(folder / "store");
      std::shared_ptr<Store> store = MustOpen(options);
      CommitPut(*store, "base", "early", "1");
      CommitPut(*store, "base2", "late", "1");
      TransactionRef tx = Begin(*store, "tx");
      CHECK_EQ(Get(*store, tx, "early", true), "1");
      CHECK_EQ(Get(*store, tx, "late"), "1");
      CHECK_OK(store->Apply(tx, BatchBuilder().Snapshot(5), false, {}));
      CHECK_EQ(Get(*store, tx, "late", true), "1");
      CHECK_EQ(Get(*store, tx, "unread", true), "(none)");
      for (int i = 0; i < later_batches; i++) {
        Get(*store, tx, "r" + std::to_string(i), true);
        const uint32_t step = 6 + static_cast<uint32_t>(i);
        CHECK_OK(store->Apply(tx, BatchBuilder().NextStep(1).Snapshot(step), false, {}));
      }
      RestoreResult restored;
      CHECK_OK(store->Restore(tx, 5, "", &restored));
      CommitPut(*store, "other", "late", "2");
      CommitPut(*store, "another", "unread", "2");
      CommitPut(*store, "third", "r0", "2");
      if (restarts) {
        CHECK_OK(store->Close());
        store = MustOpen(options);
        CHECK_OK(store->Attach({"", "tx"}, &tx));
      }
      TransactionRef fork;
      CHECK_OK(store->Fork({"", "tx"}, 5, {"", "fork"}, {}, "", &fork));
      for (const TransactionRef& each : {fork, tx}) {
        uint64_t read = 0;
        uint64_t written = 0;
        store->Touched(each, &read, &written);
        CHECK_EQ(read, 2u);
      }
      CHECK_OK(store->Apply(fork, BatchBuilder().Put("k", "fork"), false, {}));
      Commit(*store, fork);
      CommitPut(*store, "fourth", "early", "2");
      CHECK_EQ(Conflicts(*store, tx), "early ");
    }
  }
}

TEST(AForksInheritedReadsOutliveItsReset) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef from = Begin(store, "from");
  Get(store, from, "read", true);
  CHECK_OK(store.Apply(from, BatchBuilder().Snapshot(2), false, {}));
  TransactionRef fork;
  CHECK_OK(store.Fork({"", "from"}, 2, {"", "fork"}, {}, "", &fork));
  Get(store, fork, "own", true);
  Restore(store, fork, 0);
  CommitPut(store, "other", "own", "1");
  CommitPut(store, "another", "read", "1");
  CHECK_EQ(Conflicts(store, fork), "read ");
}

TEST(EntriesOfCommittedStateInAScanAreReads) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  for (const char* key : {"a", "b", "c", "d"}) CommitPut(store, key, key, "1");
  const TransactionRef tx = Begin(store, "tx");
  CHECK_OK(store.Apply(tx, BatchBuilder().Put("b", "mine").Delete("c"), false, {}));
  Range range;
  range.limit = 2;
  std::vector<Entry> entries;
  CHECK_OK(store.Scan(tx, range, &entries));
  CHECK_EQ(Joined(entries), "a=1 b=mine");
  uint64_t read = 0;
  uint64_t written = 0;
  store.Touched(tx, &read, &written);
  CHECK_EQ(read, 1u);
  CommitPut(store, "other", "a", "2");
  CommitPut(store, "another", "d", "2");
  CHECK_OK(store.Apply(tx, BatchBuilder().Put("a", "from 1").Put("d", "blind"), false, {}));
  CHECK_EQ(Conflicts(store, tx), "a ");
}

TEST(AScanThatPassesTheKeysOfItsTransactionRemembersNothing) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  for (const char* key : {"a", "b", "c"}) CommitPut(store, key, key, "1");
  BeginOptions options;
  options.keys_max = 2;
  TransactionRef tx;
  CHECK_OK(store.Begin({"", "tx"}, options, "", &tx));
  std::vector<Entry> entries;
  CHECK_CODE(store.Scan(tx, {}, &entries), kPayloadTooLarge);
  uint64_t read = 0;
  uint64_t written = 0;
  store.Touched(tx, &read, &written);
  CHECK_EQ(read, 0u);
  Range range;
  range.limit = 2;
  CHECK_OK(store.Scan(tx, range, &entries));
  CHECK_EQ(Joined(entries), "a=1 b=1");
}

TEST(VersionsReadSurviveARestart) {
  TempFolder folder;
  std::shared_ptr<Store> store = MustOpen(OptionsFor(folder / "store"));
  CommitPut(*store, "base", "k", "1");
  TransactionRef tx = Begin(*store, "tx");
  CHECK_EQ(Get(*store, tx, "k", true), "1");
  Step(*store, tx, BatchBuilder().Put("other", "1"));
  CHECK_OK(store->Close());
  store = MustOpen(OptionsFor(folder / "store"));
  CommitPut(*store, "second", "k", "2");
  CHECK_OK(store->Attach({"", "tx"}, &tx));
  CHECK_EQ(Conflicts(*store, tx), "k ");
}

TEST(ACommitVersionIsNeverReused) {
  TempFolder folder;
  uint64_t last = 0;
  for (int round = 0; round < 4; round++) {
    const std::shared_ptr<Store> store = MustOpen(OptionsFor(folder / "store"));
    const std::string id = std::to_string(round);
    const uint64_t put = CommitPut(*store, "p" + id, "k", id);
    const uint64_t deleted = CommitDelete(*store, "d" + id, "k");
    CHECK(put == last + 1 && deleted == put + 1);
    last = deleted;
    CHECK_OK(store->Close());
  }
}

TEST(ThousandsOfKeysCommitInOneBatch) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  const TransactionRef neighbour = Begin(store, "tx0");
  Step(store, neighbour, BatchBuilder().Put("n", "1"));
  BatchBuilder writes;
  for (int i = 0; i < 5000; i++) writes.Put("k" + std::to_string(i), std::to_string(i));
  Step(store, tx, writes);
  CommitPut(store, "force-validation", "unrelated", "1");
  CHECK_EQ(Commit(store, tx).keys_published, 5000u);
  CHECK_EQ(GetCommitted(store, "k4999"), "4999");
  CHECK_EQ(Get(store, neighbour, "n"), "1");
}

TEST(ConcurrentIncrementsAreNeverLost) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  CommitPut(store, "base", "counter", "0");
  constexpr int kThreads = 4;
  constexpr int kIncrements = 50;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; thread++) {
    threads.emplace_back([&store, thread] {
      int done = 0;
      for (int attempt = 0; done < kIncrements; attempt++) {
        const std::string id = std::to_string(thread) + "-" + std::to_string(attempt);
        const TransactionRef tx = Begin(store, id);
        const int value = std::stoi(Get(store, tx, "counter"));
        Step(store, tx, BatchBuilder().Put("counter", std::to_string(value + 1)));
        CommitResult result;
        const Status status = store.Commit(tx, "", &result);
        if (status.ok()) done++;
        if (!status.ok()) CHECK_OK(store.Discard(tx, ""));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(GetCommitted(store, "counter"), std::to_string(kThreads * kIncrements));
}
