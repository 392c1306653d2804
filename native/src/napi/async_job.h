// Owns a promise whose work runs elsewhere: on a thread of a pool, or in the core's writer thread.
// The work never sees JavaScript; the result is made on the JavaScript thread from plain data.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "completions.h"
#include "guard.h"
#include "node.h"
#include "store_handle.h"

namespace agenttx::node {

// Plain data that a job fills. `conflict_keys` goes with Code::kWriteConflict.
struct JobOutput {
  std::string bytes;
  std::vector<std::string> conflict_keys;
  std::vector<uint64_t> numbers;
  TransactionRef transaction;
};

using JobWork = std::function<Status(JobOutput&)>;
// JavaScript thread. May throw Refusal.
using JobResult = std::function<napi_value(napi_env, JobOutput&)>;

class AsyncJob final : public Completion {
 public:
  AsyncJob(StoreHandleRef handle, bool long_write, JobWork work, JobResult result)
      : handle_(std::move(handle)),
        long_write_(long_write),
        work_(std::move(work)),
        result_(std::move(result)) {}

  // JavaScript thread: makes the promise and counts the work as in flight.
  Napi::Value Begin(napi_env env);
  // JavaScript thread: `Begin` is taken back because the work could not be started.
  void Cancel(napi_env env, const Status& status) noexcept;
  // Any thread.
  void Execute() noexcept;
  void SetStatus(Status status) { status_ = std::move(status); }

  void Settle(napi_env env) noexcept override;

 private:
  void Finish(napi_env env) noexcept;

  StoreHandleRef handle_;
  const bool long_write_;
  JobWork work_;
  JobResult result_;
  napi_deferred deferred_ = nullptr;
  Status status_;
  JobOutput output_;
};

struct JobOptions {
  ThreadPool* threads;
  bool long_write = false;
};

// Runs `work` on a thread and resolves with `result`, by default `undefined`.
Napi::Value RunAsync(napi_env env, const StoreHandleRef& handle, JobOptions options, JobWork work,
                     JobResult result = nullptr);

// A batch on a store with sync_writes: the core's writer thread completes it after the fsync.
Napi::Value RunSynced(napi_env env, const StoreHandleRef& handle,
                      const std::function<Status(Done)>& apply);

JobResult ResultBytes();

}  // namespace agenttx::node
