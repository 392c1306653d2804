// Owns copies of a running store and its figures.
#include <rocksdb/utilities/checkpoint.h>

#include <cstdio>
#include <filesystem>
#include <new>
#include <utility>

#include "bytes.h"
#include "database.h"
#include "verbs.h"

namespace agenttx {
namespace fs = std::filesystem;
namespace {

// What the copy itself says: commits went on while it was made, and its anchor must fit it.
Status ReadCopiedState(const std::string& db_path, AnchorState* state) {
  rocksdb::DBOptions options;
  options.info_log = std::make_shared<InfoLogger>();
  // As the store that is copied: without it RocksDB 9.7 wants to forget the logs that the manifest
  // tracks, and ends the process, since a database that is only read has nowhere to note that.
  options.track_and_verify_wals_in_manifest = true;
  std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {FamilyNames()[kDefault], rocksdb::ColumnFamilyOptions()}};
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::OpenForReadOnly(options, db_path, families, &handles, &opened);
  if (!status.ok()) return FromRocks(status);
  const std::unique_ptr<rocksdb::DB> db(opened);
  std::string value;
  const rocksdb::Status read =
      db->Get(rocksdb::ReadOptions(), handles[0], ToSlice(kStateKey), &value);
  db->DestroyColumnFamilyHandle(handles[0]).PermitUncheckedError();
  state->store_audit = EmptyChain(kStoreChainIdentity);
  if (read.IsNotFound()) return Status::Ok();
  if (!read.ok()) return FromRocks(read);
  if (value.size() != 48 ||
      !DecodeChainHead(std::string_view(value).substr(8), &state->store_audit)) {
    return {Code::kStoreCorrupt, "The state record of the copy is damaged."};
  }
  state->commit_version = LoadU64(value.data());
  return Status::Ok();
}

Status WriteCopy(Database* db, const std::string& folder) {
  Status status = CreatePrivateFolder(folder);
  if (!status.ok()) return status;
  rocksdb::Checkpoint* created = nullptr;
  rocksdb::Status rocks_status = rocksdb::Checkpoint::Create(db->rocks(), &created);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(created);
  if (rocks_status.ok()) rocks_status = checkpoint->CreateCheckpoint(folder + "/db");
  if (!rocks_status.ok()) return FromRocks(rocks_status);
  AnchorState state;
  state.sync_writes = db->options().sync_writes;
  status = ReadCopiedState(folder + "/db", &state);
  if (!status.ok()) return status;
  Anchor anchor(folder + "/ANCHOR");
  std::optional<AnchorState> none;
  status = anchor.Read(&none);
  if (status.ok()) status = anchor.Write(state, true);
  if (status.ok()) status = WriteFormatFile(folder);
  return status.ok() ? SyncFolder(folder) : status;
}

uint64_t SumOfFamilies(Database* db, const rocksdb::Slice& property) {
  uint64_t sum = 0;
  for (int i = 0; i < kFamilyCount; i++) {
    uint64_t value = 0;
    if (db->rocks()->GetIntProperty(db->handle(static_cast<Family>(i)), property, &value)) {
      sum += value;
    }
  }
  return sum;
}

uint64_t BytesOfFolder(const std::string& path) {
  std::error_code error;
  uint64_t sum = 0;
  for (const fs::directory_entry& file : fs::directory_iterator(path, error)) {
    const uintmax_t size = file.file_size(error);
    if (!error) sum += size;
  }
  return sum;
}

// Takes away what was not finished, on every way out, an exception included.
class Unfinished {
 public:
  explicit Unfinished(std::string path) : path_(std::move(path)) { Remove(); }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    try {
      if (!path_.empty()) Remove();
    } catch (const std::bad_alloc&) {
      // The next copy of this name takes it away.
    }
  }

  const std::string& path() const { return path_; }
  void MovedTo(std::string path) noexcept { path_ = std::move(path); }
  void Keep() { path_.clear(); }

 private:
  void Remove() {
    std::error_code error;
    fs::remove_all(path_, error);
  }

  std::string path_;
};

}  // namespace

Status CreateCheckpoint(Database* db, const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error)) {
    return {Code::kInvalidArgument, path +
                                        " exists; name a folder that does not. Nothing was "
                                        "written."};
  }
  Unfinished copy(path + ".partial");
  Status status = WriteCopy(db, copy.path());
  if (!status.ok()) return status;
  std::string final_path = path;
  fs::rename(copy.path(), path, error);
  if (error) {
    return {Code::kInternal, "Cannot rename " + copy.path() + ": " + error.message() + "."};
  }
  copy.MovedTo(std::move(final_path));
  // Its new name is on disk too before anybody relies on the copy.
  status = SyncFolder(path);
  if (status.ok()) copy.Keep();
  return status;
}

Status CollectStats(Database* db, Stats* out) {
  *out = Stats();
  out->commit_version = db->commit_version.load(std::memory_order_acquire);
  const int64_t open_count = db->open_count.load(std::memory_order_relaxed);
  out->open_transactions = open_count > 0 ? static_cast<uint64_t>(open_count) : 0;
  out->poisoned = db->poison.reason();
  out->wal_syncs = db->writer->sync_count();
  out->batches = db->writer->batch_count();
  out->disk_bytes = BytesOfFolder(db->options().path + "/db");
  uint64_t cache_bytes = 0;
  db->rocks()->GetIntProperty(db->handle(kDefault), rocksdb::DB::Properties::kBlockCacheUsage,
                              &cache_bytes);
  out->memory_bytes = cache_bytes + SumOfFamilies(db, rocksdb::DB::Properties::kSizeAllMemTables) +
                      SumOfFamilies(db, rocksdb::DB::Properties::kEstimateTableReadersMem);
  return Status::Ok();
}

}  // namespace agenttx
