// Owns a file system that fails on command; see failing_disk.h.
#include "failing_disk.h"

namespace agenttx::test {
namespace {

using Switch = std::shared_ptr<std::atomic<DiskFailure>>;

class FailingFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FailingFile(std::unique_ptr<rocksdb::FSWritableFile>&& file, Switch failure)
      : rocksdb::FSWritableFileOwnerWrapper(std::move(file)), failure_(std::move(failure)) {}

  using rocksdb::FSWritableFileOwnerWrapper::Append;
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* context) override {
    if (*failure_ == DiskFailure::kWalAppend) return rocksdb::IOStatus::NoSpace("test disk");
    return FSWritableFileOwnerWrapper::Append(data, options, context);
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                         rocksdb::IODebugContext* context) override {
    if (*failure_ == DiskFailure::kWalSync) return rocksdb::IOStatus::IOError("test disk");
    return FSWritableFileOwnerWrapper::Sync(options, context);
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options,
                          rocksdb::IODebugContext* context) override {
    if (*failure_ == DiskFailure::kWalSync) return rocksdb::IOStatus::IOError("test disk");
    return FSWritableFileOwnerWrapper::Fsync(options, context);
  }

 private:
  const Switch failure_;
};

class FailingFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  explicit FailingFileSystem(Switch failure)
      : rocksdb::FileSystemWrapper(rocksdb::FileSystem::Default()), failure_(std::move(failure)) {}

  const char* Name() const override { return "FailingFileSystem"; }
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* context) override {
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, context);
    const bool is_wal = path.size() > 4 && path.compare(path.size() - 4, 4, ".log") == 0;
    if (status.ok() && is_wal) {
      *file = std::make_unique<FailingFile>(std::move(*file), failure_);
    }
    return status;
  }

 private:
  const Switch failure_;
};

}  // namespace

FailingDisk::FailingDisk()
    : failure_(std::make_shared<std::atomic<DiskFailure>>(DiskFailure::kNone)),
      env_(rocksdb::NewCompositeEnv(std::make_shared<FailingFileSystem>(failure_))) {}

}  // namespace agenttx::test
