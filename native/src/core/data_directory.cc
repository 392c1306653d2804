// Owns the folder of a store; see data_directory.h.
#include "data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace agenttx {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kFormatWord = "agenttx";

Status Failed(const std::string& path, const char* verb, int error) {
  const Code code = error == ENOSPC ? Code::kResourceExhausted : Code::kInvalidArgument;
  return {code, "Cannot " + std::string(verb) + " " + path + ": " + std::strerror(error) + "."};
}

std::string HolderOf(int fd) {
  char pid[32] = {};
  const ssize_t got = pread(fd, pid, sizeof pid - 1, 0);
  if (got <= 0) return "another process";
  return "process " + std::string(pid, strcspn(pid, "\n"));
}

}  // namespace

std::string CanonicalPath(const std::string& path) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(fs::absolute(path, error), error);
  std::string text = error ? path : canonical.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

Status CreatePrivateFolder(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return Status::Ok();
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty()) {
    fs::create_directories(parent, error);
    if (error) return Failed(parent.string(), "create", error.value());
  }
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return Failed(path, "create", errno);
  return Status::Ok();
}

Status DataDirectory::Open(const std::string& path, std::unique_ptr<DataDirectory>* out) {
  Status status = CreatePrivateFolder(path);
  if (!status.ok()) return status;
  const std::string lock_path = path + "/LOCK";
  OwnedFd fd(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.is_open()) return Failed(lock_path, "open", errno);
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    const std::string holder = HolderOf(fd.get());
    return {Code::kStoreLocked, "The store " + path + " is open in " + holder +
                                    "; nothing was changed. Close it there, or use that process."};
  }
  const std::string pid = std::to_string(getpid()) + "\n";
  // The pid only helps people; a full disk must not stop the open here.
  if (ftruncate(fd.get(), 0) == 0) (void)!pwrite(fd.get(), pid.data(), pid.size(), 0);
  out->reset(new DataDirectory(path, std::move(fd)));
  return Status::Ok();
}

Status CheckFormatVersion(uint32_t stored) {
  if (stored >= kFormatVersionMin && stored <= kFormatVersion) return Status::Ok();
  if (stored > kFormatVersion) {
    return {Code::kFormatTooNew,
            "The store has format " + std::to_string(stored) + "; this version reads up to " +
                std::to_string(kFormatVersion) + ". Nothing was changed; update this program."};
  }
  return {Code::kStoreCorrupt, "The store has format " + std::to_string(stored) +
                                   ", which never existed. Nothing was changed."};
}

bool DataDirectory::HasFormat() const {
  std::error_code error;
  return fs::exists(path_ + "/FORMAT", error);
}

Status DataDirectory::CheckStillThere() const {
  struct stat held {};
  struct stat there {};
  const bool is_there = fstat(lock_fd_.get(), &held) == 0 &&
                        stat((path_ + "/LOCK").c_str(), &there) == 0 &&
                        held.st_ino == there.st_ino && held.st_dev == there.st_dev;
  if (is_there) return Status::Ok();
  return {Code::kStoreCorrupt, "The folder " + path_ +
                                   " of the store is gone or was replaced while it was open. "
                                   "Nothing was created; put it back, or restore a backup."};
}

Status DataDirectory::CheckFormat() const {
  std::ifstream file(path_ + "/FORMAT");
  std::string word;
  uint32_t version = 0;
  if (!file.is_open()) return Status::Ok();
  if (!(file >> word >> version) || word != kFormatWord) {
    return {Code::kStoreCorrupt, path_ + "/FORMAT is damaged. Nothing was changed."};
  }
  return CheckFormatVersion(version);
}

bool DataDirectory::HasCurrentFormat() const {
  std::ifstream file(path_ + "/FORMAT");
  std::string word;
  uint32_t version = 0;
  return file >> word >> version && version == kFormatVersion;
}

Status WriteFormatFile(const std::string& folder) {
  const std::string path = folder + "/FORMAT";
  const std::string partial = path + ".new";
  const std::string text = std::string(kFormatWord) + " " + std::to_string(kFormatVersion) + "\n";
  // On disk before it has its name: an empty FORMAT would make a good store look damaged.
  const OwnedFd fd(open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.is_open()) return Failed(partial, "create", errno);
  const bool is_written =
      write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      fsync(fd.get()) == 0;
  if (!is_written) return Failed(partial, "write", errno);
  if (rename(partial.c_str(), path.c_str()) != 0) return Failed(path, "create", errno);
  return Status::Ok();
}

Status SyncLogs(const std::string& db_path) {
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(db_path, error)) {
    if (file.path().extension() != ".log") continue;
    const std::string path = file.path().string();
    const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    // RocksDB removes logs that it no longer needs.
    if (!fd.is_open() && errno == ENOENT) continue;
    if (!fd.is_open()) return Failed(path, "open", errno);
    if (fsync(fd.get()) != 0) return Failed(path, "sync", errno);
  }
  return error ? Failed(db_path, "read", error.value()) : Status::Ok();
}

Status SyncFolder(const std::string& path) {
  for (const std::string& folder : {path, fs::path(path).parent_path().string()}) {
    const OwnedFd fd(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.is_open()) return Failed(folder, "open", errno);
    // Some file systems cannot sync a folder; they have nothing to lose by it.
    if (fsync(fd.get()) != 0 && errno != EINVAL) return Failed(folder, "sync", errno);
  }
  return Status::Ok();
}

}  // namespace agenttx
