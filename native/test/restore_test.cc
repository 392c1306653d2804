// Goal: a restore gives back exactly the state at the snapshot (S2-S4).
// Method: small cases by name, and random histories against a model that keeps every state.
#include <chrono>
#include <map>

#include "test_store.h"

using namespace agenttx;
using namespace agenttx::test;

namespace {

using State = std::map<std::string, std::string>;

std::string Render(const State& state) {
  std::string text;
  for (const auto& [key, value] : state) {
    if (!text.empty()) text += ' ';
    text += key + "=" + value;
  }
  return text;
}

}  // namespace

TEST(RestorePutsBackValuesTombstonesAndAbsence) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  CommitPut(store, "base", "committed", "c");
  const TransactionRef tx = Begin(store, "tx");
  Step(store, tx, BatchBuilder().Put("a", "1").Delete("committed"));
  Step(store, tx, BatchBuilder().Put("a", "2").Put("committed", "mine").Put("new", "n"));
  const RestoreResult result = Restore(store, tx, 2);
  CHECK_EQ(result.writes_reverted, 3u);
  CHECK_EQ(result.keys_restored, 3u);
  CHECK_EQ(Get(store, tx, "a"), "1");
  CHECK_EQ(Get(store, tx, "committed"), "(none)");
  CHECK_EQ(Get(store, tx, "new"), "(none)");
  CHECK_EQ(store.GetHeader(tx).step, 2u);
}

TEST(WritesAreCountedNotRecords) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  for (int i = 0; i < 10; i++) {
    CHECK_OK(store.Apply(tx, BatchBuilder().Put("k", std::to_string(i)), false, {}));
  }
  const RestoreResult result = Restore(store, tx, 1);
  CHECK_EQ(result.writes_reverted, 10u);
  CHECK_EQ(result.keys_restored, 1u);
  CHECK_EQ(Get(store, tx, "k"), "(none)");
}

TEST(ATargetCanBeRestoredAgain) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  Step(store, tx, BatchBuilder().Put("k", "1"));
  for (int round = 0; round < 5; round++) {
    Step(store, tx, BatchBuilder().Put("k", "2").Put("other", "x"));
    Step(store, tx, BatchBuilder().Delete("k"));
    CHECK_EQ(Restore(store, tx, 2).writes_reverted, 3u);
    CHECK_EQ(ScanAll(store, tx), "k=1");
    CHECK_EQ(Restore(store, tx, 2).writes_reverted, 0u);
  }
}

TEST(ASnapshotThatIsNotThereChangesNothing) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  Step(store, tx, BatchBuilder().Put("k", "1"));
  Step(store, tx, BatchBuilder().Put("k", "2"));
  RestoreResult result;
  CHECK_CODE(store.Restore(tx, 4, "", &result), kSnapshotNotFound);
  Restore(store, tx, 1);
  CHECK_CODE(store.Restore(tx, 2, "", &result), kSnapshotNotFound);
  CHECK_EQ(Get(store, tx, "k"), "(none)");
}

TEST(AResetToZeroCanTakeSnapshotOneAgain) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  Step(store, tx, BatchBuilder().Put("k", "1"));
  Step(store, tx, BatchBuilder().Put("k", "2"));
  Restore(store, tx, 0);
  CHECK_EQ(store.GetHeader(tx).step, 1u);
  CHECK_EQ(store.GetHeader(tx).snapshot, 1u);
  Step(store, tx, BatchBuilder().Put("k", "3"));
  Restore(store, tx, 1);
  CHECK_EQ(Get(store, tx, "k"), "(none)");
  Restore(store, tx, 0);
}

TEST(AResetToZeroForgetsSnapshotOneToo) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  CHECK_OK(store.Apply(tx, BatchBuilder().Put("k", "1"), false, {}));
  RestoreResult result;
  CHECK_OK(store.Restore(tx, 0, "", &result));
  CHECK_EQ(store.GetHeader(tx).snapshot, 0u);
  CHECK_CODE(store.Restore(tx, 1, "", &result), kSnapshotNotFound);
  CHECK_OK(store.Apply(tx, BatchBuilder().Snapshot(1), false, {}));
  CHECK_OK(store.Restore(tx, 1, "", &result));
}

TEST(ASnapshotNotAboveTheNewestIsRefusedWithItsBatch) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  CHECK_OK(store.Apply(tx, BatchBuilder().Snapshot(5), false, {}));
  for (const uint32_t step : {5u, 4u, 0u}) {
    const BatchBuilder batch = BatchBuilder().Put("k", "v").Audit("a").NextStep(9).Snapshot(step);
    CHECK_CODE(store.Apply(tx, batch, false, {}), kInvalidArgument);
    RestoreResult result;
    CHECK_CODE(store.Restore(tx, 5, BatchBuilder().Snapshot(step), &result), kInvalidArgument);
  }
  CHECK_EQ(ScanAll(store, tx), "");
  CHECK_EQ(store.GetHeader(tx).step, 1u);
  std::vector<AuditEntry> entries;
  CHECK_OK(store.ReadAudit(TransactionName{"", "tx"}, 0, 10, &entries));
  CHECK(entries.empty());
}

TEST(ARestoreChangesOnlyTheNumbersThatItsBatchNames) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  const BatchBuilder advance = BatchBuilder().Put("k", "v").NextStep(7).Snapshot(7);
  CHECK_OK(store.Apply(tx, advance, false, {}));
  RestoreResult result;
  CHECK_OK(store.Restore(tx, 1, "", &result));
  CHECK_EQ(store.GetHeader(tx).step, 7u);
  CHECK_OK(store.Restore(tx, 1, BatchBuilder().NextStep(2), &result));
  CHECK_EQ(store.GetHeader(tx).step, 2u);
}

TEST(RestoreDropsOutputsOfLaterSteps) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  for (uint32_t step = 1; step <= 3; step++) {
    Step(store, tx,
         BatchBuilder()
             .Record(RecordSpace::kOutput, step, 0, "", "out")
             .Record(RecordSpace::kEffect, 0, step, "", "effect"));
  }
  Restore(store, tx, 2);
  std::vector<RecordEntry> records;
  CHECK_OK(store.ScanRecords({"", "tx"}, false, RecordSpace::kOutput, 0, {}, 10, &records));
  CHECK_EQ(records.size(), 1u);
  CHECK_EQ(records[0].step, 1u);
  CHECK_OK(store.ScanRecords({"", "tx"}, false, RecordSpace::kEffect, 0, {}, 10, &records));
  CHECK_EQ(records.size(), 3u);
}

TEST(RandomHistoriesRestoreToEveryEarlierState) {
  std::mt19937_64 random(Seed());
  TempFolder folder;
  const StoreOptions options = OptionsFor(folder / "store");
  std::shared_ptr<Store> store = MustOpen(options);
  for (int i = 0; i < 10; i++)
    CommitPut(*store, "c" + std::to_string(i), "k" + std::to_string(i), "c");
  TransactionRef tx = Begin(*store, "tx");
  std::map<uint32_t, State> states;  // state at each snapshot
  State state;
  for (int i = 0; i < 10; i++) state["k" + std::to_string(i)] = "c";
  states[0] = states[1] = state;
  for (int round = 0; round < 1500; round++) {
    const uint32_t next = store->GetHeader(tx).step;
    const uint64_t choice = random() % 100;
    if (choice < 75) {
      BatchBuilder writes;
      const size_t count = random() % 5;
      for (size_t i = 0; i < count; i++) {
        const std::string key = "k" + std::to_string(random() % 25);
        if (random() % 4 == 0) {
          writes.Delete(key);
          state.erase(key);
        } else {
          const std::string value(random() % 40, static_cast<char>('a' + random() % 26));
          writes.Put(key, value);
          state[key] = value;
        }
      }
      if (random() % 3 == 0) {
        CHECK_OK(store->Apply(tx, writes, false, {}));
      } else {
        Step(*store, tx, writes);
        states[next + 1] = state;
      }
    } else if (choice < 98) {
      const uint32_t target = static_cast<uint32_t>(random() % (next + 1));
      Restore(*store, tx, target);
      state = states[target];
      states.erase(states.upper_bound(target), states.end());
      if (target == 0) states[1] = state;
    } else if (choice < 99) {
      CHECK_OK(store->Reopen());
      CHECK_OK(store->Attach({"", "tx"}, &tx));
    } else {
      CHECK_OK(store->Close());
      store = MustOpen(options);
      CHECK_OK(store->Attach({"", "tx"}, &tx));
    }
    CHECK_EQ(ScanAll(*store, tx), Render(state));
  }
  Commit(*store, tx);
  std::vector<Entry> committed;
  CHECK_OK(store->ScanCommitted("", {}, &committed));
  CHECK_EQ(Joined(committed), Render(state));
}

TEST(LargeRestoresUseOneRangeAndStayExact) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  const TransactionRef neighbour = Begin(store, "tx1");
  Step(store, neighbour, BatchBuilder().Put("k", "neighbour"));
  for (int round = 0; round < 4; round++) {
    BatchBuilder writes;
    for (int i = 0; i < 3000; i++) writes.Put("k" + std::to_string(i), "v");
    Step(store, tx, writes);
    Step(store, tx, BatchBuilder().Put("k1", "later"));
    CHECK_EQ(Restore(store, tx, 2).keys_restored, 1u);
    CHECK_EQ(Get(store, tx, "k1"), "v");
    CHECK_EQ(Restore(store, tx, 1).keys_restored, 3000u);
    CHECK_EQ(ScanAll(store, tx), "");
  }
  RestoreResult other;
  CHECK_OK(store.Restore(neighbour, 1, "", &other));
  CHECK_EQ(other.keys_restored, 1u);
}

TEST(FiveThousandWritesAreRestoredInUnder50Milliseconds) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  const std::string value(256, 'v');
  for (int i = 0; i < 5000; i++) {
    Step(store, tx, BatchBuilder().Put("key-" + std::to_string(i % 1000), value));
  }
  const auto started = std::chrono::steady_clock::now();
  const RestoreResult result = Restore(store, tx, 1);
  const auto took = std::chrono::steady_clock::now() - started;
  CHECK_EQ(result.writes_reverted, 5000u);
  CHECK_EQ(result.keys_restored, 1000u);
  CHECK(took < std::chrono::milliseconds(50));
}
