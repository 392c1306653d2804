// Owns a file system that fails on command, for tests of the poisoned state.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <memory>
#include <string>

namespace agenttx::test {

// What a switched-on failure looks like.
// kTableOnce: the disk is full for one write of a flush, and has room again.
enum class DiskFailure { kNone, kWalAppend, kWalSync, kTableOnce };

class FailingDisk {
 public:
  FailingDisk();
  rocksdb::Env* env() const { return env_.get(); }
  void FailWith(DiskFailure failure) { *failure_ = failure; }

 private:
  std::shared_ptr<std::atomic<DiskFailure>> failure_;
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace agenttx::test
