// Owns the replaced calls; see disk_shim.h.
#include "disk_shim.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <unordered_map>

namespace agenttx::torture {
namespace {

// One for all: what is recorded and what happens have the same order (T2).
std::recursive_mutex& Mutex() {
  static auto* const mutex = new std::recursive_mutex();
  return *mutex;
}

struct OpenFile {
  std::string path;
  bool is_directory = false;
};

std::unordered_map<int, OpenFile>& Files() {
  static auto* const files = new std::unordered_map<int, OpenFile>();
  return *files;
}

uint64_t InodeOf(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 ? info.st_ino : 0;
}

}  // namespace

const char* NameOf(FaultKind kind) {
  static const char* const names[] = {"error-once",  "error-sticky", "full-once",
                                      "full-sticky", "short-write",  "read-error"};
  return names[static_cast<int>(kind)];
}

DiskShim& DiskShim::Process() {
  static auto* const shim = new DiskShim();
  return *shim;
}

void DiskShim::Watch(const std::string& root) {
  std::lock_guard<std::recursive_mutex> lock(Mutex());
  root_ = root + "/";
  is_active_ = true;
  is_armed_ = is_broken_ = has_fired_ = short_left_ = false;
  count_ = 0;
}

void DiskShim::Unwatch() {
  std::lock_guard<std::recursive_mutex> lock(Mutex());
  is_active_ = is_armed_ = is_recording_ = false;
}

void DiskShim::FailAt(FaultKind kind, uint64_t index) {
  std::lock_guard<std::recursive_mutex> lock(Mutex());
  kind_ = kind;
  index_ = index;
  count_ = 0;
  is_armed_ = true;
  is_broken_ = has_fired_ = short_left_ = false;
}

void DiskShim::Heal() {
  std::lock_guard<std::recursive_mutex> lock(Mutex());
  is_armed_ = is_broken_ = short_left_ = false;
}

void DiskShim::Record(bool is_recording) {
  std::lock_guard<std::recursive_mutex> lock(Mutex());
  is_recording_ = is_recording;
}

std::vector<DiskOp> DiskShim::TakeTrace() {
  std::lock_guard<std::recursive_mutex> lock(Mutex());
  return std::move(trace_);
}

size_t DiskShim::trace_size() {
  std::lock_guard<std::recursive_mutex> lock(Mutex());
  return trace_.size();
}

bool DiskShim::IsWatched(const char* path, std::string* relative) {
  if (!is_active_ || path == nullptr || path[0] == '\0') return false;
  std::string text(path);
  if (text.back() != '/') text += '/';
  if (text.compare(0, root_.size(), root_) != 0) return false;
  *relative = text.substr(root_.size());
  while (!relative->empty() && relative->back() == '/') relative->pop_back();
  return true;
}

int DiskShim::BeforeChange(bool is_write, bool* is_short) {
  *is_short = false;
  if (!is_armed_ || kind_ == FaultKind::kReadError) return 0;
  if (kind_ == FaultKind::kShortWrite) {
    if (!is_write) return 0;
    // What follows the part that fitted finds the disk full, once.
    if (short_left_) {
      short_left_ = is_armed_ = false;
      return ENOSPC;
    }
    if (++count_ != index_) return 0;
    has_fired_ = short_left_ = *is_short = true;
    return 0;
  }
  const bool is_sticky = kind_ == FaultKind::kErrorSticky || kind_ == FaultKind::kFullSticky;
  const bool is_full = kind_ == FaultKind::kFullOnce || kind_ == FaultKind::kFullSticky;
  const bool hits = ++count_ == index_ || (is_sticky && is_broken_);
  if (!hits) return 0;
  has_fired_ = is_broken_ = true;
  return is_full ? ENOSPC : EIO;
}

int DiskShim::BeforeRead() {
  if (!is_armed_ || kind_ != FaultKind::kReadError || ++count_ != index_) return 0;
  has_fired_ = true;
  return EIO;
}

void DiskShim::Note(DiskOp op) {
  if (is_recording_) trace_.push_back(std::move(op));
}

namespace {

using Kind = DiskOp::Kind;

DiskShim& Shim() { return DiskShim::Process(); }

const OpenFile* Watched(int fd) {
  if (!Shim().is_active()) return nullptr;
  const auto found = Files().find(fd);
  return found == Files().end() ? nullptr : &found->second;
}

int Refuse(int error) {
  errno = error;
  return -1;
}

// Takes note of what was opened. `existed`: nothing was created.
void NoteOpened(int fd, const std::string& path, bool existed, bool truncates) {
  struct stat info {};
  if (fd < 0 || fstat(fd, &info) != 0) return;
  Files()[fd] = {path, S_ISDIR(info.st_mode)};
  if (S_ISDIR(info.st_mode)) return;
  if (!existed) {
    Shim().Note({Kind::kCreate, info.st_ino, 0, path, "", ""});
  } else if (truncates) {
    Shim().Note({Kind::kTruncate, info.st_ino, 0, path, "", ""});
  }
}

bool Exists(const char* path) {
  struct stat info {};
  return stat(path, &info) == 0;
}

int OpenAt(int folder, const char* path, int flags, mode_t mode) {
  std::lock_guard<std::recursive_mutex> lock(Mutex());
  std::string relative;
  const bool is_watched = Shim().IsWatched(path, &relative);
  const bool changes = (flags & (O_CREAT | O_TRUNC)) != 0;
  const bool existed = !is_watched || Exists(path);
  if (is_watched && changes && (!existed || (flags & O_TRUNC))) {
    bool is_short = false;
    if (const int error = Shim().BeforeChange(false, &is_short)) return Refuse(error);
  }
  const int fd = static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
  if (fd < 0) return fd;
  Files().erase(fd);
  if (is_watched) NoteOpened(fd, relative, existed, (flags & O_TRUNC) != 0);
  return fd;
}

FILE* OpenStream(const char* symbol, const char* path, const char* mode) {
  std::lock_guard<std::recursive_mutex> lock(Mutex());
  using Function = FILE* (*)(const char*, const char*);
  const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, symbol));
  std::string relative;
  const bool is_watched = Shim().IsWatched(path, &relative);
  const bool changes = mode[0] != 'r';
  const bool existed = !is_watched || Exists(path);
  bool is_short = false;
  const int error = is_watched && changes ? Shim().BeforeChange(false, &is_short) : 0;
  if (error != 0) {
    errno = error;
    return nullptr;
  }
  FILE* const stream = real(path, mode);
  if (stream == nullptr) return stream;
  Files().erase(fileno(stream));
  if (is_watched) NoteOpened(fileno(stream), relative, existed, mode[0] == 'w');
  return stream;
}

template <typename Real>
ssize_t WriteAt(int fd, const void* bytes, size_t size, off_t offset, const Real& real) {
  std::lock_guard<std::recursive_mutex> lock(Mutex());
  const OpenFile* const file = Watched(fd);
  if (file == nullptr) return real(size);
  bool is_short = false;
  if (const int error = Shim().BeforeChange(true, &is_short)) return Refuse(error);
  struct stat info {};
  if (offset < 0) {
    const bool appends = (syscall(SYS_fcntl, fd, F_GETFL) & O_APPEND) != 0;
    offset = appends && fstat(fd, &info) == 0 ? info.st_size : lseek(fd, 0, SEEK_CUR);
  }
  const ssize_t written = real(is_short ? size / 2 : size);
  if (written > 0) {
    Shim().Note({Kind::kWrite, InodeOf(fd), static_cast<uint64_t>(offset), file->path, "",
                 std::string(static_cast<const char*>(bytes), static_cast<size_t>(written))});
  }
  return written;
}

int Sync(int fd, long number) {
  std::lock_guard<std::recursive_mutex> lock(Mutex());
  const OpenFile* const file = Watched(fd);
  if (file == nullptr) return static_cast<int>(syscall(number, fd));
  bool is_short = false;
  if (const int error = Shim().BeforeChange(false, &is_short)) return Refuse(error);
  // The folder of the test is in memory: what a sync keeps is decided by the trace.
  Shim().Note(
      {file->is_directory ? Kind::kSyncDir : Kind::kSync, InodeOf(fd), 0, file->path, "", ""});
  return 0;
}

template <typename Real>
int ChangePath(Kind kind, const char* path, const char* other, const Real& real) {
  std::lock_guard<std::recursive_mutex> lock(Mutex());
  std::string relative;
  std::string relative_other;
  if (!Shim().IsWatched(path, &relative)) return real();
  if (other != nullptr) Shim().IsWatched(other, &relative_other);
  bool is_short = false;
  if (const int error = Shim().BeforeChange(false, &is_short)) return Refuse(error);
  const int result = real();
  if (result == 0) Shim().Note({kind, 0, 0, relative, relative_other, ""});
  return result;
}

}  // namespace
}  // namespace agenttx::torture

using agenttx::torture::ChangePath;
using agenttx::torture::DiskOp;

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return agenttx::torture::OpenAt(AT_FDCWD, path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  return agenttx::torture::OpenStream("fopen", path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  return agenttx::torture::OpenStream("fopen64", path, mode);
}

int close(int fd) {
  std::lock_guard<std::recursive_mutex> lock(agenttx::torture::Mutex());
  agenttx::torture::Files().erase(fd);
  return static_cast<int>(syscall(SYS_close, fd));
}

ssize_t write(int fd, const void* bytes, size_t size) {
  return agenttx::torture::WriteAt(
      fd, bytes, size, -1, [&](size_t count) { return syscall(SYS_write, fd, bytes, count); });
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  return agenttx::torture::WriteAt(fd, bytes, size, offset, [&](size_t count) {
    return syscall(SYS_pwrite64, fd, bytes, count, offset);
  });
}

ssize_t writev(int fd, const iovec* parts, int count) {
  std::string all;
  for (int i = 0; i < count; i++) {
    all.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  }
  return write(fd, all.data(), all.size());
}

ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  {
    std::lock_guard<std::recursive_mutex> lock(agenttx::torture::Mutex());
    if (agenttx::torture::Watched(fd) != nullptr) {
      const int error = agenttx::torture::Shim().BeforeRead();
      if (error != 0) return agenttx::torture::Refuse(error);
    }
  }
  return syscall(SYS_pread64, fd, bytes, size, offset);
}

int fsync(int fd) { return agenttx::torture::Sync(fd, SYS_fsync); }
int fdatasync(int fd) { return agenttx::torture::Sync(fd, SYS_fdatasync); }

// Room that is taken in advance holds nothing; in memory it would cost more than all the rest.
int fallocate(int fd, int mode, off_t offset, off_t size) {
  {
    std::lock_guard<std::recursive_mutex> lock(agenttx::torture::Mutex());
    if (agenttx::torture::Watched(fd) != nullptr) return 0;
  }
  return static_cast<int>(syscall(SYS_fallocate, fd, mode, offset, size));
}

int ftruncate(int fd, off_t size) {
  std::lock_guard<std::recursive_mutex> lock(agenttx::torture::Mutex());
  const auto* const file = agenttx::torture::Watched(fd);
  if (file == nullptr) return static_cast<int>(syscall(SYS_ftruncate, fd, size));
  bool is_short = false;
  const int error = agenttx::torture::Shim().BeforeChange(false, &is_short);
  if (error != 0) return agenttx::torture::Refuse(error);
  const int result = static_cast<int>(syscall(SYS_ftruncate, fd, size));
  if (result == 0) {
    agenttx::torture::Shim().Note({DiskOp::Kind::kTruncate, agenttx::torture::InodeOf(fd),
                                   static_cast<uint64_t>(size), file->path, "", ""});
  }
  return result;
}

int rename(const char* from, const char* to) noexcept {
  return ChangePath(DiskOp::Kind::kRename, from, to, [&] {
    return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
  });
}

int unlink(const char* path) noexcept {
  return ChangePath(DiskOp::Kind::kUnlink, path, nullptr,
                    [&] { return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0)); });
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  std::string full(path);
  if (folder != AT_FDCWD && path[0] != '/') {
    char target[PATH_MAX];
    const std::string link = "/proc/self/fd/" + std::to_string(folder);
    const ssize_t size = readlink(link.c_str(), target, sizeof target);
    if (size > 0) full = std::string(target, static_cast<size_t>(size)) + "/" + path;
  }
  return ChangePath(DiskOp::Kind::kUnlink, full.c_str(), nullptr,
                    [&] { return static_cast<int>(syscall(SYS_unlinkat, folder, path, flags)); });
}

int link(const char* from, const char* to) noexcept {
  return ChangePath(DiskOp::Kind::kLink, from, to, [&] {
    return static_cast<int>(syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
  });
}

int mkdir(const char* path, mode_t mode) noexcept {
  return ChangePath(DiskOp::Kind::kMkdir, path, nullptr,
                    [&] { return static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode)); });
}
}
