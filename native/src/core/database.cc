// Owns opening, closing and reading one RocksDB; see database.h.
#include "database.h"

#include <rocksdb/cache.h>

#include <algorithm>
#include <random>

#include "bytes.h"
#include "cpu.h"
#include "log_check.h"
#include "log_sync_listener.h"

namespace agenttx {
namespace {

Status Damaged(std::string_view key) {
  return {Code::kStoreCorrupt,
          "The record " + std::string(key) + " of the store is damaged. Nothing was changed."};
}

Status Missing(const std::string& what) {
  return {Code::kStoreCorrupt,
          "The store is damaged: its " + what + " is missing. Nothing was changed."};
}

// A file that RocksDB expects and does not find is damage, not a failure of the disk.
Status FromOpening(const rocksdb::Status& status) {
  const bool is_missing = status.IsPathNotFound() || status.IsNotFound();
  if (!is_missing) return FromRocks(status);
  return {Code::kStoreCorrupt,
          "The store is damaged: " + status.ToString() + ". Nothing was changed."};
}

// The newer part grows with every open, the random part tells copies of one store apart.
uint64_t MakeIncarnation(uint32_t open_count) {
  std::random_device random;
  return static_cast<uint64_t>(open_count) << 32 | random();
}

}  // namespace

Database::Database(const StoreOptions& options, rocksdb::Env* env)
    : options_(options), env_(env), logger_(std::make_shared<InfoLogger>()), boot_id_(BootId()) {}

Database::~Database() { Shutdown(); }

Status Database::Open(const StoreOptions& options, rocksdb::Env* env,
                      std::shared_ptr<Database>* out) {
  Status status = CheckCpu();
  if (!status.ok()) return status;
  std::shared_ptr<Database> db(new Database(options, env));
  status = DataDirectory::Open(options.path, &db->directory_);
  if (status.ok()) status = db->directory_->CheckFormat();
  if (status.ok()) status = db->OpenRocks();
  if (!status.ok()) return status;
  db->free_space = std::make_unique<FreeSpace>(options.path, options.free_space_reserve_bytes);
  db->writer = std::make_unique<Writer>(db.get(), options.sync_writes);
  *out = std::move(db);
  return Status::Ok();
}

Status Database::OpenFamilies(std::vector<std::string>* names) {
  *names = FamilyNames();
  std::vector<std::string> on_disk;
  const std::string path = directory_->db_path();
  rocksdb::Env* env = env_ == nullptr ? rocksdb::Env::Default() : env_;
  const bool is_created = directory_->HasFormat();
  if (!env->FileExists(path + "/CURRENT").ok()) {
    // RocksDB would begin a new database and remove the files of the old one.
    return is_created ? Missing(path + "/CURRENT") : Status::Ok();
  }
  rocksdb::DBOptions options = DatabaseOptions(options_, env_, logger_);
  const rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(options, path, &on_disk);
  if (!listed.ok()) return FromOpening(listed);
  for (const std::string& name : *names) {
    const bool is_there = std::find(on_disk.begin(), on_disk.end(), name) != on_disk.end();
    // Created again it would be empty: what it held would be lost in silence.
    if (is_created && !is_there) return Missing("column family \"" + name + "\"");
  }
  for (const std::string& name : on_disk) {
    if (std::find(names->begin(), names->end(), name) != names->end()) continue;
    return {Code::kFormatTooNew, "The store has a column family \"" + name +
                                     "\" that this version does not know. Nothing was changed."};
  }
  return Status::Ok();
}

Status Database::OpenRocks() {
  std::vector<std::string> names;
  // RocksDB would create it too, but only after a warning that it is not there.
  Status status = CreatePrivateFolder(directory_->db_path());
  if (status.ok()) status = CheckLogs(directory_->db_path());
  if (status.ok()) status = OpenFamilies(&names);
  if (status.ok()) status = SyncLogs(directory_->db_path());
  if (!status.ok()) return status;
  const auto cache = rocksdb::NewLRUCache(options_.block_cache_bytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (int i = 0; i < kFamilyCount; i++) {
    families.emplace_back(names[i], FamilyOptions(options_, static_cast<Family>(i), cache));
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  const auto open = [&](const StoreOptions& options) {
    rocksdb::DBOptions settings = DatabaseOptions(options, env_, logger_);
    settings.listeners.push_back(std::make_shared<LogSyncListener>(directory_->db_path(), logger_));
    return rocksdb::DB::Open(settings, directory_->db_path(), families, &handles, &opened);
  };
  StoreOptions strict = options_;
  strict.salvage = false;
  rocksdb::Status rocks_status = open(strict);
  if (!rocks_status.ok() && options_.salvage) {
    // What is lost by it may be behind the anchor's notice: a log in the middle, steps of open
    // transactions.
    warnings_.push_back("The store was damaged (" + rocks_status.ToString() +
                        "); what could not be read is lost (salvage).");
    rocks_status = open(options_);
  }
  if (!rocks_status.ok()) return FromOpening(rocks_status);
  db_.reset(opened);
  std::copy(handles.begin(), handles.end(), handles_.begin());
  anchor_ = std::make_unique<Anchor>(directory_->anchor_path());
  status = LoadState();
  if (status.ok()) status = CountOpenTransactions();
  if (!status.ok()) CloseRocks();
  return status;
}

Status Database::LoadState() {
  rocksdb::PinnableSlice value;
  bool found = false;
  Status status = Get(kDefault, kFormatKey, &value, &found);
  if (!status.ok()) return status;
  if (found) {
    if (value.size() != 4) return Damaged(kFormatKey);
    status = CheckFormatVersion(LoadU32(value.data()));
    if (!status.ok()) return status;
  }
  const bool is_new = !found;
  uint32_t open_count = 0;
  status = Get(kDefault, kOpenCountKey, &value, &found);
  if (!status.ok()) return status;
  if (found && value.size() != 4) return Damaged(kOpenCountKey);
  if (found) open_count = LoadU32(value.data());

  store_audit = EmptyChain(kStoreChainIdentity);
  commit_version = 0;
  status = Get(kDefault, kStateKey, &value, &found);
  if (!status.ok()) return status;
  if (found) {
    const std::string_view bytes = value.ToStringView();
    if (bytes.size() != 48 || !DecodeChainHead(bytes.substr(8), &store_audit)) {
      return Damaged(kStateKey);
    }
    commit_version = LoadU64(bytes.data());
  }
  recent_commits.Reset(commit_version);
  // Compared before this open leaves any trace.
  status = CompareAnchor();
  if (!status.ok()) return status;

  // An older program must not see the first record that it would misread: FORMAT comes first.
  if (!is_new) status = WriteCurrentFormat();
  if (!status.ok()) return status;
  rocksdb::WriteBatch batch;
  std::string number;
  AppendU32(&number, kFormatVersion);
  batch.Put(handle(kDefault), ToSlice(kFormatKey), number);
  number.clear();
  AppendU32(&number, open_count + 1);
  batch.Put(handle(kDefault), ToSlice(kOpenCountKey), number);
  rocksdb::WriteOptions write;
  // A second opening must never get the same count, whatever was lost.
  write.sync = true;
  const rocksdb::Status written = db_->Write(write, &batch);
  if (!written.ok()) return FromRocks(written);
  status = WriteCurrentFormat();
  incarnation_ = MakeIncarnation(open_count + 1);
  return status;
}

// Missing also when an earlier opening failed here, and of an older version before the first
// opening by this one.
Status Database::WriteCurrentFormat() {
  if (directory_->HasCurrentFormat()) return Status::Ok();
  Status status = SyncFolder(options_.path);
  if (status.ok()) status = WriteFormatFile(options_.path);
  return status.ok() ? SyncFolder(options_.path) : status;
}

Status Database::CompareAnchor() {
  std::optional<AnchorState> anchor;
  Status status = anchor_->Read(&anchor);
  if (!status.ok()) return status;
  const uint64_t version = commit_version;
  if (!anchor.has_value()) {
    const bool has_history = version > 0 || store_audit.seq > 0;
    if (has_history) {
      warnings_.push_back(
          "The store had no anchor: a loss of its newest commits cannot be noticed.");
    }
    return WriteAnchor(NextAnchor(version, store_audit), options_.sync_writes);
  }
  if (CompareWithAnchor(*anchor, version, store_audit) == AnchorVerdict::kFine) return status;
  const std::string text = "The store is at commit " + std::to_string(version) +
                           " and audit entry " + std::to_string(store_audit.seq) +
                           ", but it had answered up to commit " +
                           std::to_string(anchor->commit_version) + " and audit entry " +
                           std::to_string(anchor->store_audit.seq);
  const bool same_boot = !boot_id_.empty() && anchor->boot_id == boot_id_;
  if ((same_boot || anchor->sync_writes) && !options_.salvage) {
    return {Code::kStoreBehindAnchor,
            text +
                ": acknowledged commits are lost, and it was not opened. Restore a backup, or "
                "accept the loss by opening it with the salvage option."};
  }
  warnings_.push_back(text + "; what is missing is lost (" +
                      (options_.salvage ? "salvage" : "the machine restarted without sync writes") +
                      ").");
  return WriteAnchor(NextAnchor(version, store_audit), true);
}

std::string Database::NextAnchor(uint64_t version, const ChainHead& head) const {
  AnchorState state;
  state.commit_version = version;
  state.store_audit = head;
  state.sync_writes = options_.sync_writes;
  state.boot_id = boot_id_;
  return anchor_->NextSlot(state);
}

Status Database::CountOpenTransactions() {
  RangeIterator headers(this, kSnapshots, PrefixRange("t/"));
  int64_t count = 0;
  for (headers->SeekToFirst(); headers->Valid(); headers->Next()) count++;
  open_count = count;
  return headers.status();
}

Status Database::Reopen() {
  Gate::Closed closed(&gate);
  std::lock_guard<std::mutex> no_group(group_mutex);
  if (is_shut_down_) return {Code::kStoreClosed, "The store is closed."};
  Status status = directory_->CheckStillThere();
  if (!status.ok()) {
    // What is open can still be read.
    poison.Set(status.message());
    return status;
  }
  // Until all of it is done: half of it may throw.
  poison.Set("it was not reopened whole");
  CloseRocks();
  locks.FreeAll();
  warnings_.clear();
  try {
    status = OpenRocks();
  } catch (const std::exception& error) {
    CloseRocks();
    status = {Code::kResourceExhausted, std::string("it was not reopened whole: ") + error.what()};
  }
  if (status.ok()) {
    poison.Clear();
  } else {
    poison.Replace("reopening failed: " + status.message());
  }
  return status;
}

void Database::CloseRocks() {
  transactions.Clear();
  for (rocksdb::ColumnFamilyHandle*& handle : handles_) {
    if (handle != nullptr) db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    handle = nullptr;
  }
  if (db_ != nullptr) db_->Close().PermitUncheckedError();
  db_.reset();
  anchor_.reset();
}

void Database::Shutdown() {
  writer.reset();  // finishes what is queued
  Gate::Closed closed(&gate);
  is_shut_down_ = true;
  CloseRocks();
  directory_.reset();
}

Status Database::CheckOpen() const {
  if (is_shut_down_) return {Code::kStoreClosed, "The store is closed; nothing was done."};
  return db_ != nullptr ? Status::Ok() : poison.Check();
}

std::vector<std::string> Database::Warnings() const {
  std::vector<std::string> all = warnings_;
  for (std::string& line : logger_->Warnings()) all.push_back(std::move(line));
  return all;
}

Status Database::Get(Family family, std::string_view key, rocksdb::PinnableSlice* value,
                     bool* found, const rocksdb::Snapshot* view) {
  rocksdb::ReadOptions options;
  options.snapshot = view;
  value->Reset();
  const rocksdb::Status status = db_->Get(options, handle(family), ToSlice(key), value);
  *found = status.ok();
  return status.IsNotFound() ? Status::Ok() : FromRocks(status);
}

Database::RangeIterator::RangeIterator(Database* db, Family family, KeyRange range,
                                       const rocksdb::Snapshot* view)
    : range_(std::move(range)), lower_(range_.begin), upper_(range_.end) {
  rocksdb::ReadOptions options;
  options.snapshot = view;
  options.iterate_lower_bound = &lower_;
  options.iterate_upper_bound = &upper_;
  iterator_.reset(db->rocks()->NewIterator(options, db->handle(family)));
}

}  // namespace agenttx
