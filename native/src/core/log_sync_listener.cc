// Owns the order of logs on disk; see log_sync_listener.h.
#include "log_sync_listener.h"

namespace agenttx {

void LogSyncListener::OnMemTableSealed(const rocksdb::MemTableInfo&) {
  const Status status = SyncLogs(db_path_);
  // The process lives, so nothing is lost yet; a disk that fails is met by the next write.
  if (!status.ok()) rocksdb::Warn(logger_.get(), "%s", status.message().c_str());
}

void LogSyncListener::OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status error,
                                           bool* auto_recovery) {
  error.PermitUncheckedError();
  *auto_recovery = false;
}

}  // namespace agenttx
