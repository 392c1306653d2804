// Prints what the core costs next to what RocksDB alone costs, measured in one run, interleaved,
// medians: machines are noisy, so only the ratios mean something (256-byte values, WAL, no fsync).
//   agenttx_core_bench [rounds]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "families.h"
#include "test_batch.h"

using namespace agenttx;
using agenttx::test::BatchBuilder;
using Clock = std::chrono::steady_clock;

namespace {

const std::string kValue(256, 'v');

std::string KeyOf(int index) {
  char key[32];
  std::snprintf(key, sizeof key, "key-%08d", index);
  return key;
}

void Must(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "bench: %s failed\n", what);
  std::exit(1);
}

class Series {
 public:
  void Add(Clock::duration took) {
    us_.push_back(std::chrono::duration<double, std::micro>(took).count());
  }
  double median() const {
    std::vector<double> sorted = us_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }

 private:
  std::vector<double> us_;
};

Clock::duration Time(const std::function<void()>& body) {
  const auto started = Clock::now();
  body();
  return Clock::now() - started;
}

// RocksDB alone, with the options of the store.
class RawStore {
 public:
  explicit RawStore(const std::string& path) {
    StoreOptions options;
    rocksdb::DBOptions db = DatabaseOptions(options, nullptr, std::make_shared<InfoLogger>());
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    const auto cache = rocksdb::NewLRUCache(64u << 20);
    for (int i = 0; i < kFamilyCount; i++) {
      families.emplace_back(FamilyNames()[i],
                            FamilyOptions(options, static_cast<Family>(i), cache));
    }
    rocksdb::DB* opened = nullptr;
    Must(rocksdb::DB::Open(db, path, families, &handles_, &opened).ok(), "open");
    db_.reset(opened);
  }
  ~RawStore() {
    for (auto* handle : handles_) db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }

  void Put(int index) { Must(db_->Put({}, handles_[kDefault], KeyOf(index), kValue).ok(), "put"); }

  // The physical limit that restore and commit are compared with.
  void FloorBatch(int key_count) {
    rocksdb::WriteBatch batch;
    for (int i = 0; i < key_count; i++) {
      Must(batch.Put(handles_[kDefault], KeyOf(i), kValue).ok(), "put");
    }
    Must(db_->Write({}, &batch).ok(), "write");
  }

  // The obvious algorithm: one record per write, put back newest first, each record deleted.
  void JournalEveryWrite(int write_count, int key_count) {
    first_seq_ = seq_;
    for (int i = 0; i < write_count; i++) {
      const std::string key = KeyOf(i % key_count);
      std::string prior;
      Must(!db_->Get({}, handles_[kDefault], key, &prior).IsCorruption(), "get");
      rocksdb::WriteBatch batch;
      Must(batch.Put(handles_[kSnapshots], Record(seq_++), key + prior).ok(), "put");
      Must(batch.Put(handles_[kDefault], key, kValue).ok(), "put");
      Must(db_->Write({}, &batch).ok(), "write");
    }
  }
  void RestoreEntryByEntry() {
    // Tight bounds, as each transaction's own range has.
    const std::string first = Record(first_seq_);
    const rocksdb::Slice lower = first;
    rocksdb::ReadOptions options;
    options.iterate_lower_bound = &lower;
    const std::unique_ptr<rocksdb::Iterator> journal(
        db_->NewIterator(options, handles_[kSnapshots]));
    rocksdb::WriteBatch batch;
    for (journal->SeekToLast(); journal->Valid(); journal->Prev()) {
      const rocksdb::Slice value = journal->value();
      const rocksdb::Slice key(value.data(), 12);
      const rocksdb::Slice prior(value.data() + 12, value.size() - 12);
      Must(batch.Put(handles_[kDefault], key, prior).ok(), "put");
      Must(batch.Delete(handles_[kSnapshots], journal->key()).ok(), "delete");
    }
    Must(db_->Write({}, &batch).ok(), "write");
  }

 private:
  static std::string Record(uint64_t seq) {
    char key[32];
    std::snprintf(key, sizeof key, "j/%016llx", static_cast<unsigned long long>(seq));
    return key;
  }

  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  uint64_t seq_ = 0;
  uint64_t first_seq_ = 0;
};

std::shared_ptr<Store> OpenStore(const std::string& path, bool sync_writes) {
  StoreOptions options;
  options.path = path;
  options.sync_writes = sync_writes;
  std::shared_ptr<Store> store;
  Must(Store::Open(options, &store).ok(), "open");
  return store;
}

TransactionRef Begin(Store& store) {
  static int next = 0;
  TransactionRef tx;
  Must(store.Begin({"", "0192f0a0-0000-7000-8000-" + std::to_string(next++)}, {}, "", &tx).ok(),
       "begin");
  return tx;
}

void Step(Store& store, const TransactionRef& tx, const std::string& key) {
  const uint32_t step = store.GetHeader(tx).step;
  BatchBuilder batch;
  batch.Fence(1, 0, step).Put(key, kValue).Record(RecordSpace::kOutput, step, 0, "", "{\"ok\":1}");
  batch.NextStep(step + 1).Snapshot(step + 1);
  Must(store.Apply(tx, batch, false, {}).ok(), "step");
}

void Print(const char* what, double us, double ratio, const char* against) {
  std::printf("%-58s %10.1f us", what, us);
  if (ratio > 0) std::printf("   %6.2fx %s", ratio, against);
  std::printf("\n");
}

void BenchSteps(Store& store, RawStore& raw, int rounds) {
  Series put;
  Series step;
  TransactionRef tx = Begin(store);
  for (int i = 0; i < rounds * 200; i++) {
    put.Add(Time([&] { raw.Put(i % 5000); }));
    step.Add(Time([&] { Step(store, tx, KeyOf(i % 5000)); }));
  }
  Must(store.Discard(tx, "").ok(), "discard");
  Print("raw put", put.median(), 0, "");
  Print("step (fence, put, journal, output, snapshot, header)", step.median(),
        step.median() / put.median(), "of a raw put");
}

// `per_step`: writes between two snapshots; 0 = all in one interval. `fresh`: the keys were not
// written before the snapshot, as when a transaction is taken back to its beginning.
void BenchRestore(Store& store, RawStore& raw, int rounds, int writes, int keys, int per_step,
                  bool fresh) {
  Series floor;
  Series restore;
  Series naive;
  for (int round = 0; round < rounds; round++) {
    TransactionRef tx = Begin(store);
    BatchBuilder initial;
    for (int i = 0; i < keys && !fresh; i++) initial.Put(KeyOf(i), kValue);
    Must(store.Apply(tx, initial.Snapshot(2), false, {}).ok(), "initial");
    uint32_t snapshot = 2;
    for (int i = 0; i < writes; i++) {
      BatchBuilder batch;
      batch.Put(KeyOf(i % keys), kValue);
      if (per_step > 0 && i % per_step == per_step - 1) batch.Snapshot(++snapshot);
      Must(store.Apply(tx, batch, false, {}).ok(), "write");
    }
    raw.JournalEveryWrite(writes, keys);
    floor.Add(Time([&] { raw.FloorBatch(keys); }));
    RestoreResult result;
    restore.Add(Time([&] { Must(store.Restore(tx, 2, "", &result).ok(), "restore"); }));
    Must(result.writes_reverted == static_cast<uint64_t>(writes), "restore count");
    naive.Add(Time([&] { raw.RestoreEntryByEntry(); }));
    Must(store.Discard(tx, "").ok(), "discard");
  }
  std::printf("restore of %d writes over %d keys, %s, %s\n", writes, keys,
              per_step == 0 ? "one interval" : "a snapshot per write",
              fresh ? "new keys" : "keys with older values");
  Print("  floor batch of the keys", floor.median(), 0, "");
  Print("  restore", restore.median(), restore.median() / floor.median(), "of the floor");
  Print("  entry by entry", naive.median(), naive.median() / restore.median(), "of our restore");
}

void BenchCommit(Store& store, RawStore& raw, int rounds, int keys, bool intervening) {
  Series floor;
  Series commit;
  for (int round = 0; round < rounds; round++) {
    TransactionRef tx = Begin(store);
    for (int i = 0; i < keys; i++) Step(store, tx, KeyOf(i));
    if (intervening) {
      TransactionRef other = Begin(store);
      Step(store, other, "unrelated");
      CommitResult ignored;
      Must(store.Commit(other, "", &ignored).ok(), "commit");
    }
    floor.Add(Time([&] { raw.FloorBatch(keys); }));
    CommitResult result;
    commit.Add(Time([&] { Must(store.Commit(tx, "", &result).ok(), "commit"); }));
  }
  std::printf("commit of %d keys, %s\n", keys,
              intervening ? "every key validated" : "nothing committed since begin");
  Print("  floor batch of the keys", floor.median(), 0, "");
  Print("  commit", commit.median(), commit.median() / floor.median(), "of the floor");
}

// Small restores by the thousand: what deletions leave behind must not slow the next one.
void BenchManyRestores(Store& store, int count, int keys) {
  TransactionRef tx = Begin(store);
  Series first;
  Series last;
  for (int i = 0; i < count; i++) {
    BatchBuilder batch;
    for (int key = 0; key < keys; key++) batch.Put(KeyOf(key), kValue);
    Must(store.Apply(tx, batch.Snapshot(2), false, {}).ok(), "write");
    RestoreResult result;
    const auto took = Time([&] { Must(store.Restore(tx, 1, "", &result).ok(), "restore"); });
    if (i < count / 10) first.Add(took);
    if (i >= count - count / 10) last.Add(took);
  }
  Must(store.Discard(tx, "").ok(), "discard");
  std::printf("%d restores of %d keys in a row\n", count, keys);
  Print("  the first tenth", first.median(), 0, "");
  Print("  the last tenth", last.median(), last.median() / first.median(), "of the first");
}

// What 10,000 open transactions cost in memory, in the store's own bookkeeping and in all.
void BenchMemory(const std::string& path) {
#if defined(__GLIBC__)
  constexpr int kCount = 10'000;
  std::shared_ptr<Store> store = OpenStore(path, false);
  std::vector<std::string> ids;
  for (int i = 0; i < kCount; i++) {
    TransactionRef tx;
    ids.push_back("0192f0a0-0000-7000-9000-" + std::to_string(i));
    BatchBuilder payload;
    Must(store->Begin({"", ids.back()}, {}, payload.Payload(std::string(100, 'p')), &tx).ok(),
         "begin");
    Step(*store, tx, KeyOf(i));
  }
  Must(store->Close().ok(), "close");
  const auto started = Clock::now();
  store = OpenStore(path, false);
  const double open_ms = std::chrono::duration<double, std::milli>(Clock::now() - started).count();
  Stats before;
  Must(store->GetStats(&before).ok(), "stats");
  const size_t heap_before = mallinfo2().uordblks + mallinfo2().hblkhd;
  for (const std::string& id : ids) {
    TransactionRef tx;
    Must(store->Attach({"", id}, &tx).ok(), "attach");
  }
  const size_t heap = mallinfo2().uordblks + mallinfo2().hblkhd - heap_before;
  Stats after;
  Must(store->GetStats(&after).ok(), "stats");
  const size_t rocks = after.memory_bytes - before.memory_bytes;
  std::printf("10,000 open transactions: opened in %.1f ms; %zu bytes each, %zu of them our own\n",
              open_ms, heap / kCount, heap > rocks ? (heap - rocks) / kCount : 0);
#else
  (void)path;
#endif
}

// One thread drives many transactions, as a server's event loop does.
double StepsPerSecond(Store& store, int transactions, int steps, double* steps_per_sync) {
  std::vector<TransactionRef> open;
  for (int i = 0; i < transactions; i++) open.push_back(Begin(store));
  std::mutex mutex;
  std::condition_variable woken;
  std::vector<int> ready;
  for (int i = 0; i < transactions; i++) ready.push_back(i);
  Stats before;
  Must(store.GetStats(&before).ok(), "stats");
  int started_count = 0;
  int finished = 0;
  const auto started = Clock::now();
  while (finished < transactions * steps) {
    std::vector<int> now;
    {
      std::unique_lock<std::mutex> lock(mutex);
      woken.wait(lock, [&] { return !ready.empty(); });
      now.swap(ready);
    }
    finished = started_count - (transactions - static_cast<int>(now.size()));
    if (started_count < transactions) finished = 0;
    for (const int i : now) {
      if (started_count >= transactions * steps) continue;
      started_count++;
      const uint32_t step = store.GetHeader(open[i]).step;
      BatchBuilder batch;
      batch.Put(KeyOf(i), kValue).NextStep(step + 1).Snapshot(step + 1);
      Must(store
               .Apply(open[i], batch, false,
                      [&, i](Status status) {
                        Must(status.ok(), "step");
                        std::lock_guard<std::mutex> lock(mutex);
                        ready.push_back(i);
                        woken.notify_one();
                      })
               .ok(),
           "apply");
    }
    if (started_count >= transactions * steps) break;
  }
  RestoreResult ignored;
  for (const TransactionRef& tx : open) Must(store.Restore(tx, 1, "", &ignored).ok(), "restore");
  const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
  Stats after;
  Must(store.GetStats(&after).ok(), "stats");
  const uint64_t syncs = after.wal_syncs - before.wal_syncs;
  *steps_per_sync =
      syncs == 0 ? 0 : static_cast<double>(started_count) / static_cast<double>(syncs);
  for (const TransactionRef& tx : open) Must(store.Discard(tx, "").ok(), "discard");
  return started_count / seconds;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  std::string pattern = std::filesystem::temp_directory_path() / "agenttx-bench-XXXXXX";
  Must(mkdtemp(pattern.data()) != nullptr, "mkdtemp");
  {
    RawStore raw(pattern + "/raw");
    const std::shared_ptr<Store> store = OpenStore(pattern + "/store", false);
    BenchSteps(*store, raw, rounds);
    for (const bool fresh : {true, false}) {
      for (const int keys : {1000, 5000}) {
        for (const int per_step : {0, 1}) {
          BenchRestore(*store, raw, rounds, 5000, keys, per_step, fresh);
        }
      }
    }
    BenchCommit(*store, raw, rounds, 1000, false);
    BenchCommit(*store, raw, rounds, 1000, true);
    BenchCommit(*store, raw, rounds, 10, true);
    BenchManyRestores(*store, 5000, 3);
    BenchManyRestores(*store, 500, 1000);
    BenchMemory(pattern + "/memory");
    double steps_per_sync = 0;
    const std::shared_ptr<Store> synced = OpenStore(pattern + "/synced", true);
    const double with_sync = StepsPerSecond(*synced, 64, 200, &steps_per_sync);
    double ignored = 0;
    const double without = StepsPerSecond(*store, 64, 200, &ignored);
    std::printf(
        "64 transactions: %.0f steps/s synced, %.1f steps per fsync; %.0f steps/s without\n",
        with_sync, steps_per_sync, without);
  }
  std::error_code error;
  std::filesystem::remove_all(pattern, error);
  return 0;
}
