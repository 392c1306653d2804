// Goal: every verb may be called from any thread at any time, also on one handle, while the store
// is reopened and opened a second time: each answer is one that the header names, pairs of keys are
// never seen torn, and a sanitizer has nothing to say (A2). AGENTTX_STORM_SECONDS makes it longer.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>

#include "test_store.h"

using namespace agenttx;
using namespace agenttx::test;

namespace {

constexpr int kThreads = 8;
constexpr int kSlots = 12;
constexpr int kPairs = 20;

std::chrono::milliseconds StormTime() {
  const char* const given = std::getenv("AGENTTX_STORM_SECONDS");
  return std::chrono::milliseconds(given == nullptr ? 500 : std::atoi(given) * 1'000);
}

// What may be answered while everything happens at once: the transaction was ended, moved on or
// restored by another thread, or the store is being reopened.
bool IsExpected(const Status& status) {
  switch (status.code()) {
    case Code::kOk:
    case Code::kSnapshotNotFound:
    case Code::kTransactionEnded:
    case Code::kStaleOwner:
    case Code::kStaleAttempt:
    case Code::kStepOutOfOrder:
    case Code::kWriteConflict:
    case Code::kOutcomeUnknown:
    case Code::kStoreClosed:
    case Code::kStorePoisoned:
    case Code::kNotFound:
    case Code::kResourceExhausted:
      return true;
    default:
      return false;
  }
}

class Storm {
 public:
  Storm(const std::string& path, bool sync_writes)
      : options_(OptionsFor(path, sync_writes)), store_(MustOpen(options_)) {}

  void Run() {
    const auto ends = std::chrono::steady_clock::now() + StormTime();
    std::vector<std::thread> threads;
    for (int number = 0; number < kThreads; number++) {
      threads.emplace_back([this, number, ends] {
        std::mt19937_64 random(Seed() + static_cast<uint64_t>(number));
        while (std::chrono::steady_clock::now() < ends) Act(number, random);
      });
    }
    for (std::thread& thread : threads) thread.join();
    // Answers that were queued are given before the store is closed.
    CHECK_OK(store_->Close());
    CHECK_EQ(asked_.load(), answered_.load());
    if (!wrong_.empty()) throw Failure(wrong_);
    const std::shared_ptr<Store> again = MustOpen(options_);
    Pairs(*again);
    CHECK(commits_.load() > 0);
  }

 private:
  void Note(const char* what, const Status& status) {
    if (IsExpected(status)) return;
    Wrong(std::string(what) + ": " + NameOf(status.code()) + " " + status.message());
  }

  void Wrong(std::string text) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (wrong_.empty()) wrong_ = std::move(text);
  }

  TransactionRef Slot(std::mt19937_64& random) {
    std::lock_guard<std::mutex> lock(mutex_);
    return slots_[random() % kSlots];
  }

  void Act(int number, std::mt19937_64& random) {
    const TransactionRef tx = Slot(random);
    const uint64_t dice = random() % 200;
    if (tx == nullptr || dice < 20) return BeginOne(number, random);
    if (dice < 80) return ApplyTo(tx, random);
    if (dice < 110) return CommitOne(tx);
    if (dice < 125) return ReadFrom(tx, random);
    if (dice < 140) {
      RestoreResult result;
      return Note("restore", store_->Restore(tx, 1, BatchBuilder().NextStep(1), &result));
    }
    if (dice < 145) return Note("discard", store_->Discard(tx, ""));
    if (dice < 150) {
      uint64_t attempt = 0;
      return Note("attempt", store_->BeginAttempt(tx, &attempt));
    }
    if (dice < 198) return ReadStore(random);
    // One thread alone opens, closes and reopens: two reopenings at once are one.
    if (number == 0) return Note("reopen", store_->Reopen());
    if (number == 1) {
      std::shared_ptr<Store> other;
      Note("open", Store::Open(options_, &other));
      if (other != nullptr) Note("close", other->Close());
    }
  }

  void BeginOne(int number, std::mt19937_64& random) {
    const std::string id = std::to_string(number) + "/" + std::to_string(begun_++);
    BeginOptions options;
    options.serializable = random() % 8 == 0;
    TransactionRef tx;
    const Status status =
        store_->Begin({"", id}, options, BatchBuilder().Payload("p").Audit("begin"), &tx);
    Note("begin", status);
    if (!status.ok()) return;
    std::lock_guard<std::mutex> lock(mutex_);
    slots_[random() % kSlots] = tx;
  }

  // Both keys of a pair always get one value.
  void ApplyTo(const TransactionRef& tx, std::mt19937_64& random) {
    const std::string pair = std::to_string(random() % kPairs);
    const std::string value(random() % 4 == 0 ? 20'000 : 20,
                            static_cast<char>('a' + random() % 26));
    const uint32_t next = store_->GetHeader(tx).step + 1;
    const BatchBuilder batch = BatchBuilder()
                                   .Put("a" + pair, value)
                                   .Put("b" + pair, value)
                                   .Record(RecordSpace::kOutput, next - 1, 0, "", value)
                                   .Audit("step")
                                   .Payload(value)
                                   .Snapshot(next)
                                   .NextStep(next);
    asked_++;
    const Status status =
        store_->Apply(tx, batch, random() % 2 == 0, [this](const Status&) { answered_++; });
    // A snapshot that another thread has passed is refused as an argument.
    if (status.code() != Code::kInvalidArgument) Note("apply", status);
  }

  void CommitOne(const TransactionRef& tx) {
    CommitResult result;
    const Status status = store_->Commit(tx, BatchBuilder().StoreAudit("commit"), &result);
    Note("commit", status);
    if (status.ok()) commits_++;
  }

  void ReadFrom(const TransactionRef& tx, std::mt19937_64& random) {
    std::optional<std::string> value;
    Note("get", store_->Get(tx, "a" + std::to_string(random() % kPairs), false, &value));
    std::vector<Entry> entries;
    const Status status = store_->Scan(tx, {}, &entries);
    if (status.code() != Code::kScanNotSerializable) Note("scan", status);
    uint64_t read = 0;
    uint64_t written = 0;
    store_->Touched(tx, &read, &written);
  }

  void ReadStore(std::mt19937_64& random) {
    switch (random() % 6) {
      case 0: {
        Stats stats;
        return Note("stats", store_->GetStats(&stats));
      }
      case 1: {
        std::vector<OpenTransaction> open;
        return Note("open transactions", store_->OpenTransactions({}, 100, &open));
      }
      case 2: {
        std::vector<AuditEntry> entries;
        return Note("audit", store_->ReadAudit({}, 1, 50, &entries));
      }
      case 3: {
        std::vector<RecordEntry> records;
        return Note("records",
                    store_->ScanRecords({"", ""}, true, RecordSpace::kEffect, 0, {}, 50, &records));
      }
      case 4:
        return Note("write records",
                    store_->WriteRecords({"", ""}, BatchBuilder().StoreAudit("x")));
      default:
        return Pairs(*store_);
    }
  }

  // One scan is one view: a commit is in it whole or not at all.
  void Pairs(Store& store) {
    std::vector<Entry> entries;
    const Status status = store.ScanCommitted("", {}, &entries);
    Note("scan committed", status);
    if (!status.ok()) return;
    std::array<std::string, 2> newest;
    for (int pair = 0; pair < kPairs; pair++) {
      newest = {};
      for (const Entry& entry : entries) {
        if (entry.key == "a" + std::to_string(pair)) newest[0] = entry.value;
        if (entry.key == "b" + std::to_string(pair)) newest[1] = entry.value;
      }
      if (newest[0] != newest[1]) Wrong("pair " + std::to_string(pair) + " is torn");
    }
  }

  const StoreOptions options_;
  const std::shared_ptr<Store> store_;
  std::mutex mutex_;
  std::array<TransactionRef, kSlots> slots_;
  std::string wrong_;
  std::atomic<uint64_t> begun_{0};
  std::atomic<uint64_t> asked_{0};
  std::atomic<uint64_t> answered_{0};
  std::atomic<uint64_t> commits_{0};
};

}  // namespace

TEST(EveryVerbMayBeCalledFromAnyThreadAtAnyTime) {
  for (const bool sync_writes : {false, true}) {
    TempFolder folder;
    Storm(folder / "store", sync_writes).Run();
  }
}
