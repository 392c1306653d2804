// Owns the walk over a log's records; see log_check.h. The layout is RocksDB's (db/log_format.h):
// blocks of 32 KiB; a record is checksum (4 bytes), length (2), kind (1) and its bytes, and never
// crosses a block.
#include "log_check.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <vector>

#include "owned_fd.h"

namespace agenttx {
namespace fs = std::filesystem;
namespace {

constexpr size_t kBlockBytes = 32768;
constexpr size_t kHeaderBytes = 7;

// kRecyclableFullType to kRecyclableLastType, and kRecyclableUserDefinedTimestampSizeType.
bool IsOfRecycledLog(uint8_t kind) { return (kind >= 5 && kind <= 8) || kind == 11; }

// The offset of the first record of a recycled log in a block, or its size. The walk ends where
// RocksDB gives the rest of a block up: at a length beyond it, and at zeros.
size_t FindInBlock(const uint8_t* block, size_t size) {
  for (size_t at = 0; at + kHeaderBytes <= size;) {
    const size_t length = block[at + 4] | static_cast<size_t>(block[at + 5]) << 8;
    const uint8_t kind = block[at + 6];
    if (IsOfRecycledLog(kind)) return at;
    if (length == 0 && kind == 0) break;
    at += kHeaderBytes + length;
  }
  return size;
}

Status Failed(const std::string& path, const char* what) {
  return {Code::kInternal, std::string("Cannot ") + what + " " + path + ": " +
                               std::strerror(errno) + ". Nothing was changed."};
}

Status CheckLog(const std::string& path) {
  const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open() && errno == ENOENT) return Status::Ok();  // RocksDB says so
  if (!fd.is_open()) return Failed(path, "open");
  std::vector<uint8_t> block(kBlockBytes);
  Status status;
  for (off_t begin = 0; status.ok(); begin += static_cast<off_t>(kBlockBytes)) {
    const ssize_t got = pread(fd.get(), block.data(), block.size(), begin);
    if (got < 0) status = Failed(path, "read");
    if (got <= 0) break;
    const auto size = static_cast<size_t>(got);
    const size_t at = FindInBlock(block.data(), size);
    if (at < size) {
      const size_t offset = static_cast<size_t>(begin) + at;
      status = {Code::kStoreCorrupt, "The store is damaged: " + path + " has a record at " +
                                         std::to_string(offset) +
                                         " of a kind that is never written. Nothing was changed."};
    }
    if (size < kBlockBytes) break;
  }
  return status;
}

}  // namespace

Status CheckLogs(const std::string& db_path) {
  std::string manifest;
  std::ifstream current(db_path + "/CURRENT");
  std::getline(current, manifest);
  if (current.bad()) throw std::bad_alloc();  // a stream turns it into a state
  // Any other name RocksDB refuses.
  const bool is_name = manifest.rfind("MANIFEST-", 0) == 0 &&
                       manifest.find_first_of(std::string("/\0", 2)) == std::string::npos;
  Status status = is_name ? CheckLog(db_path + "/" + manifest) : Status::Ok();
  if (!status.ok()) return status;
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(db_path, error)) {
    if (file.path().extension() != ".log") continue;
    status = CheckLog(file.path().string());
    if (!status.ok()) return status;
  }
  return error ? Status(Code::kInternal, "Cannot read " + db_path + ": " + error.message() +
                                             ". Nothing was changed.")
               : status;
}

}  // namespace agenttx
