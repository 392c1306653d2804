// Owns one open RocksDB and the state that all handles of this process share. The verbs (begin,
// apply, restore, commit ...) are functions in files of their own.
// B1 Lock order: gate, group mutex, tx->mutex (two only together, for a fork), publish mutex. The
//    writer thread never enters the gate, since callers that wait for it are inside.
// B2 Every writer of committed state holds the publish mutex from validation to install (S7).
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agenttx/store.h"
#include "anchor.h"
#include "claims.h"
#include "data_directory.h"
#include "families.h"
#include "free_space.h"
#include "gate.h"
#include "key_codec.h"
#include "locks.h"
#include "poison.h"
#include "recent_commits.h"
#include "transaction.h"
#include "writer.h"

namespace agenttx {

using BoundedIterator = std::unique_ptr<rocksdb::Iterator>;

class Database {
 public:
  // `env` replaces the file system, for tests; null otherwise.
  static Status Open(const StoreOptions& options, rocksdb::Env* env,
                     std::shared_ptr<Database>* out);
  ~Database();

  // Closes and opens again in place; open transactions have to be attached again. Heals poison.
  // Both wait for calls in flight. REQUIRES: the caller is outside of the gate.
  Status Reopen();
  void Shutdown();

  // --- Reads of one key. kNotFound is not an error: `*found` says it.
  Status Get(Family family, std::string_view key, rocksdb::PinnableSlice* value, bool* found,
             const rocksdb::Snapshot* view = nullptr);
  // `range` must outlive the iterator, which never leaves it.
  class RangeIterator;

  rocksdb::ColumnFamilyHandle* handle(Family family) const { return handles_[family]; }
  rocksdb::DB* rocks() const { return db_.get(); }
  // kStoreClosed after Shutdown, kStorePoisoned after a reopen that failed. REQUIRES: inside the
  // gate.
  Status CheckOpen() const;

  const StoreOptions& options() const { return options_; }
  uint64_t incarnation() const { return incarnation_.load(std::memory_order_acquire); }
  std::vector<std::string> Warnings() const;

  Gate gate;
  std::mutex group_mutex;  // held by the writer thread for a group, and while reopening
  Poison poison;
  TransactionTable transactions;
  Claims claims;  // of the openings that share this database; a reopen changes none
  Locks locks;
  std::unique_ptr<FreeSpace> free_space;
  std::unique_ptr<Writer> writer;
  std::atomic<int64_t> open_count{0};

  std::mutex publish_mutex;
  // Written under publish_mutex, after the write succeeded.
  std::atomic<uint64_t> commit_version{0};
  ChainHead store_audit;         // guarded by publish_mutex
  RecentCommits recent_commits;  // guarded by publish_mutex
  // The anchor for a state of the store, and its write, which takes no memory unless it fails.
  // REQUIRES: publish_mutex is held from the one to the other.
  std::string NextAnchor(uint64_t version, const ChainHead& head) const;
  Status WriteAnchor(const std::string& slot, bool sync) { return anchor_->WriteSlot(slot, sync); }

 private:
  Database(const StoreOptions& options, rocksdb::Env* env);

  Status OpenRocks();
  Status OpenFamilies(std::vector<std::string>* names);
  Status LoadState();
  Status WriteCurrentFormat();
  Status CompareAnchor();
  Status CountOpenTransactions();
  void CloseRocks();

  const StoreOptions options_;
  rocksdb::Env* const env_;
  std::shared_ptr<InfoLogger> logger_;
  std::unique_ptr<DataDirectory> directory_;
  std::unique_ptr<Anchor> anchor_;
  std::string boot_id_;
  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, kFamilyCount> handles_{};
  bool is_shut_down_ = false;
  std::vector<std::string> warnings_;
  std::atomic<uint64_t> incarnation_{0};
};

// An iterator with tight bounds that live as long as it does.
class Database::RangeIterator {
 public:
  RangeIterator(Database* db, Family family, KeyRange range,
                const rocksdb::Snapshot* view = nullptr);
  RangeIterator(const RangeIterator&) = delete;
  RangeIterator& operator=(const RangeIterator&) = delete;

  rocksdb::Iterator* operator->() const { return iterator_.get(); }
  std::string_view key() const { return iterator_->key().ToStringView(); }
  std::string_view value() const { return iterator_->value().ToStringView(); }
  const KeyRange& range() const { return range_; }
  // REQUIRES: called after every loop: an iterator that met an error ends early.
  Status status() const { return FromRocks(iterator_->status()); }

 private:
  const KeyRange range_;
  const rocksdb::Slice lower_;
  const rocksdb::Slice upper_;
  BoundedIterator iterator_;
};

inline rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace agenttx
