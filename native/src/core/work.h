// Owns the shape of a change: prepared, written, installed. Without sync_writes the caller's thread
// does all three; with it the writer thread does, for many changes and one fsync (writer.h).
// W1 Prepare changes no memory that outlives the work: a refused or failed change leaves none.
// W2 Install runs only after the write succeeded, and cannot fail: without memory the process ends,
//    since no answer would be true (what is on disk is whole).
#pragma once

#include <rocksdb/write_batch.h>

#include <cstdint>
#include <string>
#include <unordered_map>

#include "agenttx/status.h"
#include "audit_chain.h"
#include "transaction.h"

namespace agenttx {

class Database;

// The changes of one write.
struct Group {
  explicit Group(Database* database) : db(database) {}

  Database* const db;
  rocksdb::WriteBatch batch;
  // State of the store after the changes so far. Valid for works that publish.
  uint64_t commit_version = 0;
  ChainHead store_audit;
  bool state_changed = false;
  std::string anchor;  // made by Writer::Seal
  // Versions of committed keys that earlier commits of this group publish; 0 = deleted. They are
  // not in the database yet. Kept only when a group holds several works.
  std::unordered_map<std::string, uint64_t> published;
  bool keeps_published = false;
};

class Work {
 public:
  virtual ~Work() = default;

  // Adds to `group->batch`. An error takes back what was added and becomes the outcome.
  // REQUIRES: tx->mutex is held, and the publish mutex when `publishes`.
  virtual Status Prepare(Group* group) = 0;
  virtual void Install() noexcept = 0;

  TransactionRef tx;     // may be null
  TransactionRef other;  // a second one whose mutex is held too: what a fork reads
  // The work changes committed state or the store's audit chain.
  bool publishes = false;
  bool no_slowdown = false;
  // A write that failed in the middle leaves it open whether the change happened.
  Code write_failure = Code::kStorePoisoned;
  // What the caller hears after a successful write. Not OK: only evidence was written.
  Status outcome;
};

}  // namespace agenttx
