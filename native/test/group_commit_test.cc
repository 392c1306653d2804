// Goal: many callers share one fsync, and a group behaves like its works one after the other (S9).
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "test_store.h"

using namespace agenttx;
using namespace agenttx::test;

namespace {

// Waits for a number of completions.
class Countdown {
 public:
  explicit Countdown(int count) : left_(count) {}
  void Hit() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--left_ == 0) reached_.notify_all();
  }
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    reached_.wait(lock, [&] { return left_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable reached_;
  int left_;
};

}  // namespace

TEST(SixtyFourTransactionsShareTheirSyncs) {
  const auto opened = NewStore(true);
  Store& store = *opened->store;
  constexpr int kTransactions = 64;
  constexpr int kSteps = 10;
  Stats before;
  CHECK_OK(store.GetStats(&before));
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int i = 0; i < kTransactions; i++) {
    threads.emplace_back([&store, &failures, i] {
      const TransactionRef tx = Begin(store, "tx" + std::to_string(i));
      for (uint32_t step = 1; step <= kSteps; step++) {
        Countdown done(1);
        const BatchBuilder batch = BatchBuilder()
                                       .Fence(1, 0, step)
                                       .Put("k" + std::to_string(i), std::to_string(step))
                                       .Snapshot(step + 1)
                                       .NextStep(step + 1);
        CHECK_OK(store.Apply(tx, batch, false, [&](Status status) {
          if (!status.ok()) failures++;
          done.Hit();
        }));
        done.Wait();
      }
      Commit(store, tx);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Stats after;
  CHECK_OK(store.GetStats(&after));
  CHECK_EQ(failures.load(), 0);
  CHECK_EQ(after.commit_version, static_cast<uint64_t>(kTransactions));
  const uint64_t works = kTransactions * (kSteps + 2);
  CHECK((after.wal_syncs - before.wal_syncs) * 8 < works);
  for (int i = 0; i < kTransactions; i++) {
    CHECK_EQ(GetCommitted(store, "k" + std::to_string(i)), std::to_string(kSteps));
  }
}

TEST(CommitsOfOneGroupConflictWithEachOther) {
  const auto opened = NewStore(true);
  Store& store = *opened->store;
  constexpr int kThreads = 16;
  std::vector<TransactionRef> transactions;
  for (int i = 0; i < kThreads; i++) {
    transactions.push_back(Begin(store, "tx" + std::to_string(i)));
    Step(store, transactions.back(), BatchBuilder().Put("same", std::to_string(i)));
  }
  std::atomic<int> winners{0};
  std::atomic<int> losers{0};
  std::vector<std::thread> threads;
  for (const TransactionRef& tx : transactions) {
    threads.emplace_back([&, tx] {
      CommitResult result;
      const Status status = store.Commit(tx, "", &result);
      if (status.ok()) winners++;
      if (status.code() == Code::kWriteConflict) losers++;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(winners.load(), 1);
  CHECK_EQ(losers.load(), kThreads - 1);
}

TEST(QueuedBatchesOfOneTransactionKeepTheirOrder) {
  const auto opened = NewStore(true);
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  constexpr int kBatches = 30;
  Countdown done(kBatches);
  std::atomic<int> failures{0};
  for (uint32_t step = 1; step <= kBatches; step++) {
    const BatchBuilder batch = BatchBuilder()
                                   .Fence(1, 0, step)
                                   .Put("k", std::to_string(step))
                                   .Snapshot(step + 1)
                                   .NextStep(step + 1);
    CHECK_OK(store.Apply(tx, batch, false, [&](Status status) {
      if (!status.ok()) failures++;
      done.Hit();
    }));
  }
  done.Wait();
  CHECK_EQ(failures.load(), 0);
  RestoreResult restored;
  CHECK_OK(store.Restore(tx, 11, "", &restored));
  CHECK_EQ(Get(store, tx, "k"), "10");
}

TEST(ARefusedWorkTakesNothingWithIt) {
  const auto opened = NewStore(true);
  Store& store = *opened->store;
  const TransactionRef good = Begin(store, "good");
  const TransactionRef bad = Begin(store, "bad");
  Countdown done(20);
  std::atomic<int> refused{0};
  for (int i = 0; i < 10; i++) {
    CHECK_OK(store.Apply(bad, BatchBuilder().Fence(7, 0, 1).Put("k", "bad").StoreAudit("bad"),
                         false, [&](Status status) {
                           if (status.code() == Code::kStaleOwner) refused++;
                           done.Hit();
                         }));
    CHECK_OK(store.Apply(good, BatchBuilder().Put("k" + std::to_string(i), "good").StoreAudit("x"),
                         false, [&](Status) { done.Hit(); }));
  }
  done.Wait();
  CHECK_EQ(refused.load(), 10);
  CHECK_EQ(Get(store, bad, "k"), "(none)");
  CHECK_EQ(Get(store, good, "k9"), "good");
  std::vector<AuditEntry> entries;
  CHECK_OK(store.ReadAudit(std::nullopt, 0, 100, &entries));
  CHECK_EQ(entries.size(), 10u);
}

TEST(CloseWaitsForWhatIsQueued) {
  TempFolder folder;
  std::shared_ptr<Store> store = MustOpen(OptionsFor(folder / "store", true));
  TransactionRef tx = Begin(*store, "tx");
  std::atomic<int> completed{0};
  for (int i = 0; i < 20; i++) {
    CHECK_OK(store->Apply(tx, BatchBuilder().Put("k" + std::to_string(i), "v"), false,
                          [&](Status status) { completed += status.ok() ? 1 : 0; }));
  }
  CHECK_OK(store->Close());
  CHECK_EQ(completed.load(), 20);
  CHECK_CODE(store->Apply(tx, BatchBuilder().Put("k", "v"), false, {}), kStoreClosed);
  store = MustOpen(OptionsFor(folder / "store", true));
  CHECK_OK(store->Attach({"", "tx"}, &tx));
  CHECK_EQ(Get(*store, tx, "k19"), "v");
}

TEST(ReopenMayRunAmongConcurrentWriters) {
  for (const bool sync_writes : {false, true}) {
    const auto opened = NewStore(sync_writes);
    Store& store = *opened->store;
    std::atomic<bool> stop{false};
    std::atomic<int> unexpected{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) {
      threads.emplace_back([&, i] {
        const TransactionName name{"", "tx" + std::to_string(i)};
        TransactionRef tx = Begin(store, name.id);
        while (!stop) {
          RestoreResult restored;
          const Status status = store.Restore(tx, 1, "", &restored);
          if (status.code() == Code::kStaleOwner) {
            if (!store.Attach(name, &tx).ok()) unexpected++;
          } else if (!status.ok()) {
            unexpected++;
          }
        }
      });
    }
    for (int i = 0; i < 3; i++) CHECK_OK(store.Reopen());
    stop = true;
    for (std::thread& thread : threads) thread.join();
    CHECK_EQ(unexpected.load(), 0);
  }
}
