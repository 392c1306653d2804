// Goal: what was acknowledged survives the death of the process; a store has one process; loss is
// noticed (S9, S9b). Method: children that die without closing, files that are damaged by hand.
#include <rocksdb/db.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "anchor.h"
#include "test_store.h"

using namespace agenttx;
using namespace agenttx::test;
namespace fs = std::filesystem;

namespace {

// Runs `body` in a child that ends without any cleanup.
void InDyingChild(const std::function<void()>& body) {
  NeedsFork();
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    int status = 0;
    try {
      body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      status = 1;
    }
    _exit(status);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

std::vector<fs::path> Logs(const std::string& store_path) {
  std::vector<fs::path> logs;
  for (const auto& file : fs::directory_iterator(store_path + "/db")) {
    if (file.path().extension() == ".log") logs.push_back(file.path());
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

void CopyStore(const std::string& from, const std::string& to) {
  fs::copy(from, to, fs::copy_options::recursive);
}

// Twenty commits in a child that dies.
void CommitTwenty(const std::string& path, bool sync_writes) {
  InDyingChild([&] {
    const std::shared_ptr<Store> store = MustOpen(OptionsFor(path, sync_writes));
    for (int i = 0; i < 20; i++) {
      CommitPut(*store, "tx" + std::to_string(i), "k" + std::to_string(i), std::string(200, 'v'));
    }
  });
}

}  // namespace

TEST(WhatWasAnsweredSurvivesTheDeathOfTheProcess) {
  for (const bool sync_writes : {false, true}) {
    TempFolder folder;
    const StoreOptions options = OptionsFor(folder / "store", sync_writes);
    InDyingChild([&] {
      const std::shared_ptr<Store> store = MustOpen(options);
      CommitPut(*store, "base", "k", "committed");
      const TransactionRef tx = Begin(*store, "tx");
      Step(*store, tx, BatchBuilder().Put("k", "1").Payload("at step 2"));
      Step(*store, tx, BatchBuilder().Put("k", "2").Put("l", "2").Payload("at step 3"));
    });
    const std::shared_ptr<Store> store = MustOpen(options);
    CHECK_EQ(GetCommitted(*store, "k"), "committed");
    TransactionRef tx;
    CHECK_OK(store->Attach({"", "tx"}, &tx));
    CHECK_EQ(store->GetHeader(tx).step, 3u);
    CHECK_EQ(store->GetHeader(tx).payload, "at step 3");
    CHECK_EQ(store->GetHeader(tx).incarnation, store->incarnation());
    CHECK_EQ(ScanAll(*store, tx), "k=2 l=2");
    RestoreResult restored;
    CHECK_OK(store->Restore(tx, 2, "", &restored));
    CHECK_EQ(restored.writes_reverted, 2u);
    CHECK_EQ(ScanAll(*store, tx), "k=1");
    CHECK(store->warnings().empty());
  }
}

TEST(OpeningAFreshFolderWarnsOfNothing) {
  TempFolder folder;
  const std::shared_ptr<Store> store = MustOpen(OptionsFor(folder / "new/store"));
  for (const std::string& warning : store->warnings()) CHECK_EQ(warning, "");
  CHECK_OK(store->Reopen());
  for (const std::string& warning : store->warnings()) CHECK_EQ(warning, "");
}

TEST(ASecondProcessIsRefusedWithTheHoldersPid) {
  NeedsFork();
  TempFolder folder;
  const StoreOptions options = OptionsFor(folder / "store");
  int ready[2];
  int done[2];
  CHECK(pipe(ready) == 0 && pipe(done) == 0);
  const pid_t child = fork();
  if (child == 0) {
    std::shared_ptr<Store> store;
    const Status status = Store::Open(options, &store);
    char byte = status.ok() ? 'y' : 'n';
    (void)!write(ready[1], &byte, 1);
    (void)!read(done[0], &byte, 1);
    _exit(0);
  }
  char byte = 0;
  CHECK(read(ready[0], &byte, 1) == 1 && byte == 'y');
  std::shared_ptr<Store> store;
  const Status status = Store::Open(options, &store);
  CHECK_CODE(status, kStoreLocked);
  CHECK(status.message().find("process " + std::to_string(child)) != std::string::npos);
  (void)!write(done[1], &byte, 1);
  waitpid(child, nullptr, 0);
  CHECK_OK(Store::Open(options, &store));
  for (const int fd : {ready[0], ready[1], done[0], done[1]}) close(fd);
}

TEST(TheFolderIsPrivate) {
  TempFolder folder;
  MustOpen(OptionsFor(folder / "deep/er/store"));
  struct stat info {};
  CHECK(stat((folder / "deep/er/store").c_str(), &info) == 0);
  CHECK_EQ(info.st_mode & 0777, 0700u);
}

TEST(AFlippedBitInTheLogIsRefused) {
  TempFolder folder;
  const std::string path = folder / "store";
  CommitTwenty(path, true);
  const fs::path log = Logs(path).back();
  std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(fs::file_size(log) / 2);
  file.seekg(middle);
  const char byte = static_cast<char>(file.get() ^ 0x10);
  file.seekp(middle);
  file.put(byte);
  file.close();
  std::shared_ptr<Store> store;
  const Status status = Store::Open(OptionsFor(path, true), &store);
  CHECK_CODE(status, kStoreCorrupt);
  CHECK_CODE(Store::Open(OptionsFor(path, true), &store), kStoreCorrupt);
  StoreOptions salvage = OptionsFor(path, true);
  salvage.salvage = true;
  store = MustOpen(salvage);
  CHECK(!store->warnings().empty());
  CHECK_EQ(GetCommitted(*store, "k0"), std::string(200, 'v'));
  CHECK_EQ(GetCommitted(*store, "k19"), "(none)");
}

TEST(ALostTailIsNoticedByTheAnchor) {
  for (const bool deletes_log : {false, true}) {
    TempFolder folder;
    const std::string path = folder / "store";
    CommitTwenty(path, false);
    const fs::path log = Logs(path).back();
    if (deletes_log) {
      fs::remove(log);
    } else {
      fs::resize_file(log, fs::file_size(log) * 2 / 3);
    }
    std::shared_ptr<Store> store;
    CHECK_CODE(Store::Open(OptionsFor(path), &store), kStoreBehindAnchor);
    CHECK_CODE(Store::Open(OptionsFor(path), &store), kStoreBehindAnchor);
    StoreOptions salvage = OptionsFor(path);
    salvage.salvage = true;
    store = MustOpen(salvage);
    CHECK(!store->warnings().empty());
    CHECK_OK(store->Close());
    store = MustOpen(OptionsFor(path));
    CHECK(store->warnings().empty());
  }
}

TEST(ALossAfterARebootWithoutSyncIsAWarning) {
  for (const bool sync_writes : {false, true}) {
    TempFolder folder;
    const std::string path = folder / "store";
    CommitTwenty(path, sync_writes);
    const fs::path log = Logs(path).back();
    fs::resize_file(log, fs::file_size(log) / 2);
    Anchor anchor(path + "/ANCHOR");
    std::optional<AnchorState> state;
    CHECK_OK(anchor.Read(&state));
    CHECK_EQ(state->commit_version, 20u);
    CHECK_EQ(state->sync_writes, sync_writes);
    state->boot_id = "another boot";
    CHECK_OK(anchor.Write(*state, true));
    std::shared_ptr<Store> store;
    const Status status = Store::Open(OptionsFor(path, sync_writes), &store);
    if (sync_writes) {
      CHECK_CODE(status, kStoreBehindAnchor);
    } else {
      CHECK_OK(status);
      CHECK(!store->warnings().empty());
    }
  }
}

TEST(AnAnchorSurvivesATornWrite) {
  TempFolder folder;
  const std::string path = folder / "ANCHOR";
  AnchorState state;
  std::optional<AnchorState> read;
  for (uint64_t version = 1; version <= 4; version++) {
    Anchor anchor(path);
    CHECK_OK(anchor.Read(&read));
    CHECK_EQ(read.has_value(), version > 1);
    state.commit_version = version;
    CHECK_OK(anchor.Write(state, false));
  }
  // Slot 0 holds the newest, version 4: damaged, the one before it counts.
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(20);
  file.put('x');
  file.close();
  Anchor torn(path);
  CHECK_OK(torn.Read(&read));
  CHECK_EQ(read->commit_version, 3u);
  CHECK_OK(torn.Write(state, false));
  Anchor again(path);
  CHECK_OK(again.Read(&read));
  CHECK_EQ(read->commit_version, 4u);
}

TEST(ANewerFormatIsRefusedBeforeAnythingIsTouched) {
  TempFolder folder;
  const std::string path = folder / "store";
  MustOpen(OptionsFor(path));
  std::ofstream(path + "/FORMAT") << "agenttx 99\n";
  std::shared_ptr<Store> store;
  CHECK_CODE(Store::Open(OptionsFor(path), &store), kFormatTooNew);
  std::ofstream(path + "/FORMAT") << "garbage";
  CHECK_CODE(Store::Open(OptionsFor(path), &store), kStoreCorrupt);
  std::ofstream(path + "/FORMAT") << "agenttx 1\n";
  CHECK_OK(Store::Open(OptionsFor(path), &store));
}

TEST(AStoreOfAnOlderFormatIsRaisedBeforeItIsWrittenTo) {
  TempFolder folder;
  const std::string path = folder / "store";
  MustOpen(OptionsFor(path));
  std::ofstream(path + "/FORMAT") << "agenttx 1\n";
  MustOpen(OptionsFor(path));
  std::string text;
  std::getline(std::ifstream(path + "/FORMAT"), text);
  CHECK_EQ(text, "agenttx 2");
}

TEST(ADamagedStoreIsRefusedAndKept) {
  TempFolder folder;
  const std::string path = folder / "store";
  CommitTwenty(path, false);
  std::ofstream(path + "/db/CURRENT") << "MANIFEST-999999\n";
  std::shared_ptr<Store> store;
  const Status status = Store::Open(OptionsFor(path), &store);
  CHECK(!status.ok());
  CHECK(status.message().find("MANIFEST-999999") != std::string::npos);
  CHECK(!Logs(path).empty());
}

TEST(ALostCurrentFileIsRefusedAndNothingGoesWithIt) {
  TempFolder folder;
  const std::string path = folder / "store";
  CommitTwenty(path, false);
  fs::rename(path + "/db/CURRENT", folder / "kept");
  std::shared_ptr<Store> store;
  CHECK_CODE(Store::Open(OptionsFor(path), &store), kStoreCorrupt);
  fs::rename(folder / "kept", path + "/db/CURRENT");
  store = MustOpen(OptionsFor(path));
  CHECK_EQ(GetCommitted(*store, "k19"), std::string(200, 'v'));
}

TEST(AStoreThatLostAFamilyIsRefused) {
  TempFolder folder;
  const std::string path = folder / "store";
  CommitTwenty(path, false);
  // Cut behind the first record, the manifest knows the default family only.
  fs::path manifest;
  for (const auto& file : fs::directory_iterator(path + "/db")) {
    if (file.path().filename().string().starts_with("MANIFEST")) manifest = file.path();
  }
  const auto size = static_cast<uintmax_t>(fs::file_size(manifest));
  int refused = 0;
  for (uintmax_t kept = 1; kept < size; kept += 7) {
    CopyStore(path, folder / "copy");
    fs::resize_file(folder / ("copy/db/" + manifest.filename().string()), kept);
    std::shared_ptr<Store> store;
    const Status status = Store::Open(OptionsFor(folder / "copy"), &store);
    if (status.ok()) {
      CHECK_EQ(GetCommitted(*store, "k19"), std::string(200, 'v'));
      std::vector<AuditEntry> chain;
      CHECK_OK(store->ReadAudit(TransactionName{"", "tx19"}, 1, 10, &chain));
      CHECK_OK(store->Close());
    } else {
      refused++;
    }
    fs::remove_all(folder / "copy");
  }
  CHECK(refused > 0);
}

// Bit 2 of a record's kind makes it one of a recycled log, which RocksDB reads for ever.
TEST(ALogRecordOfAKindThatIsNeverWrittenIsRefused) {
  TempFolder folder;
  const std::string path = folder / "store";
  CommitTwenty(path, false);
  int flipped = 0;
  for (const auto& file : fs::directory_iterator(path + "/db")) {
    const std::string name = file.path().filename().string();
    if (!name.starts_with("MANIFEST") && file.path().extension() != ".log") continue;
    std::stringstream bytes;
    bytes << std::ifstream(file.path(), std::ios::binary).rdbuf();
    const std::string whole = bytes.str();
    // These files are smaller than a block: records follow each other.
    for (size_t at = 0; at + 7 <= whole.size() && at < 32'000;) {
      std::string damaged = whole;
      damaged[at + 6] = static_cast<char>(damaged[at + 6] | 4);
      CopyStore(path, folder / "copy");
      std::ofstream(folder / ("copy/db/" + name), std::ios::binary) << damaged;
      std::shared_ptr<Store> store;
      StoreOptions options = OptionsFor(folder / "copy");
      options.salvage = flipped % 4 == 0;
      CHECK_CODE(Store::Open(options, &store), kStoreCorrupt);
      // Refused, and kept as it was.
      std::ofstream(folder / ("copy/db/" + name), std::ios::binary) << whole;
      if (flipped % 8 == 0) {
        store = MustOpen(OptionsFor(folder / "copy"));
        CHECK_EQ(GetCommitted(*store, "k19"), std::string(200, 'v'));
        CHECK_OK(store->Close());
      }
      fs::remove_all(folder / "copy");
      flipped++;
      const auto low = static_cast<uint8_t>(whole[at + 4]);
      const auto high = static_cast<uint8_t>(whole[at + 5]);
      at += 7 + (low | static_cast<size_t>(high) << 8);
    }
  }
  CHECK(flipped > 20);
}

TEST(AnOpeningThatFailedAtTheFormatFileIsMadeGood) {
  TempFolder folder;
  const std::string path = folder / "store";
  MustOpen(OptionsFor(path));
  fs::remove(path + "/FORMAT");
  std::ofstream(path + "/FORMAT.new") << "agent";
  MustOpen(OptionsFor(path));
  std::string text;
  std::getline(std::ifstream(path + "/FORMAT"), text);
  CHECK_EQ(text, "agenttx 2");
}

TEST(ACheckpointIsAStoreOfItsOwn) {
  TempFolder folder;
  const std::shared_ptr<Store> store = MustOpen(OptionsFor(folder / "store"));
  CommitPut(*store, "base", "k", "1");
  const TransactionRef open = Begin(*store, "open");
  Step(*store, open, BatchBuilder().Put("k", "2"));
  CHECK_OK(store->Checkpoint(folder / "copy"));
  CHECK_CODE(store->Checkpoint(folder / "copy"), kInvalidArgument);
  CommitPut(*store, "later", "k", "3");
  const std::shared_ptr<Store> copy = MustOpen(OptionsFor(folder / "copy"));
  CHECK(copy->incarnation() != store->incarnation());
  CHECK(copy->warnings().empty());
  CHECK_EQ(GetCommitted(*copy, "k"), "1");
  TransactionRef tx;
  CHECK_OK(copy->Attach({"", "open"}, &tx));
  CHECK_EQ(Get(*copy, tx, "k"), "2");
  CHECK_CODE(copy->Discard(open, ""), kStaleOwner);
}

// Pairs of keys are committed together all the time: a copy has both of a pair, or neither.
TEST(ACheckpointWhileOthersCommitIsWhole) {
  TempFolder folder;
  const std::shared_ptr<Store> store = MustOpen(OptionsFor(folder / "store"));
  std::atomic<bool> is_over = false;
  std::thread committer([&] {
    for (int i = 0; !is_over; i++) {
      const std::string number = std::to_string(i);
      const TransactionRef tx = Begin(*store, "t" + number);
      Step(*store, tx, BatchBuilder().Put("one", number).Put("other", number));
      (void)Commit(*store, tx);
    }
  });
  std::vector<std::string> seen;
  for (int i = 0; i < 8; i++) {
    const std::string path = folder / ("copy" + std::to_string(i));
    const Status status = store->Checkpoint(path);
    if (!status.ok()) is_over = true;
    CHECK_OK(status);
    const std::shared_ptr<Store> copy = MustOpen(OptionsFor(path));
    CHECK(copy->warnings().empty());
    seen.push_back(GetCommitted(*copy, "one"));
    CHECK_EQ(GetCommitted(*copy, "other"), seen.back());
    CHECK_OK(copy->Close());
    fs::remove_all(path);
  }
  is_over = true;
  committer.join();
  CHECK(seen.front() != seen.back());
}

TEST(AStoreWithAnUnknownFamilyIsRefused) {
  TempFolder folder;
  const std::string path = folder / "store";
  CommitTwenty(path, false);
  {
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const char* const name : {"default", "snapshots", "saga_logs", "effects", "audit"}) {
      families.emplace_back(name, rocksdb::ColumnFamilyOptions());
    }
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    CHECK(rocksdb::DB::Open(rocksdb::DBOptions(), path + "/db", families, &handles, &db).ok());
    rocksdb::ColumnFamilyHandle* later = nullptr;
    CHECK(db->CreateColumnFamily(rocksdb::ColumnFamilyOptions(), "of_later", &later).ok());
    handles.push_back(later);
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      CHECK(db->DestroyColumnFamilyHandle(handle).ok());
    }
    delete db;
  }
  std::shared_ptr<Store> store;
  const Status status = Store::Open(OptionsFor(path), &store);
  CHECK(status.code() == Code::kFormatTooNew);
  CHECK(status.message().find("of_later") != std::string::npos);
}

TEST(TwoOpeningsOfOneCopyDiffer) {
  TempFolder folder;
  CommitTwenty(folder / "store", false);
  CopyStore(folder / "store", folder / "copy");
  const std::shared_ptr<Store> store = MustOpen(OptionsFor(folder / "store"));
  const std::shared_ptr<Store> copy = MustOpen(OptionsFor(folder / "copy"));
  CHECK(store->incarnation() != copy->incarnation());
}

TEST(OneProcessSharesOneDatabase) {
  TempFolder folder;
  const std::shared_ptr<Store> a = MustOpen(OptionsFor(folder / "store"));
  const std::shared_ptr<Store> b = MustOpen(OptionsFor(folder / "./store/"));
  std::shared_ptr<Store> other;
  CHECK_CODE(Store::Open(OptionsFor(folder / "store", true), &other), kInvalidArgument);
  CHECK_EQ(a->incarnation(), b->incarnation());
  const TransactionRef tx = Begin(*a, "tx");
  Step(*a, tx, BatchBuilder().Put("k", "v"));
  TransactionRef attached;
  CHECK_OK(b->Attach({"", "tx"}, &attached));
  CHECK(attached == tx);
  CHECK_OK(a->Close());
  CHECK_OK(a->Close());
  std::optional<std::string> value;
  CHECK_CODE(a->Get(tx, "k", false, &value), kStoreClosed);
  CHECK_EQ(Get(*b, tx, "k"), "v");
  CHECK_OK(b->Close());
  const std::shared_ptr<Store> again = MustOpen(OptionsFor(folder / "store"));
  CHECK_OK(again->Attach({"", "tx"}, &attached));
}

TEST(TenThousandOpenTransactionsOpenQuickly) {
  TempFolder folder;
  const StoreOptions options = OptionsFor(folder / "store");
  std::shared_ptr<Store> store = MustOpen(options);
  for (int i = 0; i < 10'000; i++) Begin(*store, "tx" + std::to_string(i));
  CHECK_OK(store->Close());
  const auto started = std::chrono::steady_clock::now();
  store = MustOpen(options);
  CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(2) * kSlowdown);
  Stats stats;
  CHECK_OK(store->GetStats(&stats));
  CHECK_EQ(stats.open_transactions, 10'000u);
}
