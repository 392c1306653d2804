// Owns a file system that fails on command; see failing_disk.h.
#include <string_view>

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

class FullOnceFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FullOnceFile(std::unique_ptr<rocksdb::FSWritableFile>&& file, Switch failure)
      : rocksdb::FSWritableFileOwnerWrapper(std::move(file)), failure_(std::move(failure)) {}

  using rocksdb::FSWritableFileOwnerWrapper::Append;
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* context) override {
    DiskFailure expected = DiskFailure::kTableOnce;
    if (failure_->compare_exchange_strong(expected, DiskFailure::kNone)) {
      return rocksdb::IOStatus::NoSpace("test disk");
    }
    return FSWritableFileOwnerWrapper::Append(data, options, context);
  }

 private:
  const Switch failure_;
};

bool HasEnding(const std::string& path, std::string_view ending) {
  return path.size() > ending.size() &&
         path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
}

class FailingFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  explicit FailingFileSystem(Switch failure)
      : rocksdb::FileSystemWrapper(rocksdb::FileSystem::Default()), failure_(std::move(failure)) {}

  const char* Name() const override { return "FailingFileSystem"; }
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* context) override {
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, context);
    if (status.ok() && HasEnding(path, ".log")) {
      *file = std::make_unique<FailingFile>(std::move(*file), failure_);
    }
    if (status.ok() && HasEnding(path, ".sst")) {
      *file = std::make_unique<FullOnceFile>(std::move(*file), failure_);
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
