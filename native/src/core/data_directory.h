// Owns the folder of a store and who may use it:
//   {path}/LOCK    held by the one process that has the store open; holds its pid
//   {path}/FORMAT  format version as text, looked at before RocksDB touches anything
//   {path}/ANCHOR  see anchor.h
//   {path}/db/     RocksDB
// D1 The folder is private to its owner (0700). D2 At most one process at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "agenttx/status.h"
#include "owned_fd.h"

namespace agenttx {

// 2: numbers of the header and outputs in the records of snapshots (header_codec.h).
inline constexpr uint32_t kFormatVersion = 2;
inline constexpr uint32_t kFormatVersionMin = 1;  // nothing of it has to be rewritten

class DataDirectory {
 public:
  // Creates the folder (parents too) when missing. kStoreLocked: another process has it.
  static Status Open(const std::string& path, std::unique_ptr<DataDirectory>* out);
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string db_path() const { return path_ + "/db"; }
  std::string anchor_path() const { return path_ + "/ANCHOR"; }

  // kFormatTooNew or kStoreCorrupt: this build cannot open the folder. OK for a new one.
  Status CheckFormat() const;
  // False also when there is no FORMAT, or one of an older version.
  bool HasCurrentFormat() const;
  // The store was created to the end: its database and all families are there, or were lost.
  bool HasFormat() const;
  // kStoreCorrupt: the folder was removed, moved or replaced since it was opened. To open what is
  // at the path now would begin an empty store, or take another's.
  Status CheckStillThere() const;

 private:
  DataDirectory(std::string path, OwnedFd lock_fd)
      : path_(std::move(path)), lock_fd_(std::move(lock_fd)) {}

  const std::string path_;
  const OwnedFd lock_fd_;
};

// The one spelling of a path that all openers in a process share.
std::string CanonicalPath(const std::string& path);
// Creates `path` and its missing parents, private to the owner.
Status CreatePrivateFolder(const std::string& path);
// REQUIRES: the database in the folder is on disk (see HasFormat).
Status WriteFormatFile(const std::string& folder);
// Makes the entries of a folder, and the folder's own entry, survive a power loss.
Status SyncFolder(const std::string& path);
// What the logs in RocksDB's folder hold is on disk. A newer log is written to only after that: a
// loss of power must not take the end of one and leave the log after it.
Status SyncLogs(const std::string& db_path);
Status CheckFormatVersion(uint32_t stored);

}  // namespace agenttx
