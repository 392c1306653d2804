// Owns the order of two logs on disk: when RocksDB begins a new one, the one before is synced
// before anything is written to it. Without this a loss of power could keep the newer log and lose
// the end of the older one: a hole in the history instead of a shorter one (S9). Once per full
// memtable; with sync_writes the older log is on disk already and it costs nothing.
#pragma once

#include <rocksdb/listener.h>

#include <memory>
#include <string>

#include "data_directory.h"
#include "info_logger.h"

namespace agenttx {

class LogSyncListener final : public rocksdb::EventListener {
 public:
  LogSyncListener(std::string db_path, std::shared_ptr<InfoLogger> logger)
      : db_path_(std::move(db_path)), logger_(std::move(logger)) {}

  // Called at the front of the writer queue, without RocksDB's mutex.
  void OnMemTableSealed(const rocksdb::MemTableInfo& info) override;

  // No recovery behind our back: after a failure writes stop until the store is reopened (S10).
  // RocksDB's own, after a full disk, waits for the write queue, at whose head a stalled write may
  // wait for the recovery: neither ends.
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason reason, rocksdb::Status error,
                            bool* auto_recovery) override;

 private:
  const std::string db_path_;
  const std::shared_ptr<InfoLogger> logger_;
};

}  // namespace agenttx
