// Owns where RocksDB's own messages go: the newest warnings stay in memory, nothing is written to
// the disk of the store. RocksDB's file logger aborts the process when that disk is full (S9b).
#pragma once

#include <rocksdb/env.h>

#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace agenttx {

class InfoLogger final : public rocksdb::Logger {
 public:
  InfoLogger() : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override;

  // Oldest first, at most 32.
  std::vector<std::string> Warnings() const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> lines_;
};

}  // namespace agenttx
