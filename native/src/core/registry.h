// Owns the databases that are open in this process: one per folder, shared by all that open it
// (worker threads), closed with the last.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "database.h"

namespace agenttx {

class Registry {
 public:
  static Registry& Process();

  // `options.path` is canonical. kInvalidArgument: it is open with other durability.
  Status Acquire(const StoreOptions& options, rocksdb::Env* env, std::shared_ptr<Database>* out);
  // The last one shuts the database down before this returns.
  void Release(const std::shared_ptr<Database>& db) noexcept;

 private:
  struct Slot {
    std::shared_ptr<Database> db;
    size_t users = 0;
    bool is_changing = false;  // being opened or shut down, outside of the mutex
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Slot> slots_;
};

}  // namespace agenttx
