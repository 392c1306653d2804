// Owns promises whose work runs elsewhere; see async_job.h.
#include "async_job.h"

#include <atomic>

#include "packing.h"

namespace agenttx::node {

Napi::Value AsyncJob::Begin(napi_env env) {
  napi_value promise;
  if (napi_create_promise(env, &deferred_, &promise) != napi_ok) {
    throw Refusal(Status(Code::kInternal, "No promise could be made; nothing was done."));
  }
  handle_->context->completions()->Hold();
  ++handle_->in_flight;
  if (long_write_) ++handle_->long_writes;
  return Napi::Value(env, promise);
}

void AsyncJob::Cancel(napi_env env, const Status& status) noexcept {
  handle_->context->completions()->Release();
  status_ = status;
  Settle(env);
}

void AsyncJob::Execute() noexcept {
  status_ = GuardStatus([this] { return work_(output_); });
}

void AsyncJob::Settle(napi_env env) noexcept {
  napi_value value = nullptr;
  if (status_.ok()) {
    status_ = GuardStatus([&] {
      if (result_) {
        value = result_(env, output_);
      } else {
        napi_get_undefined(env, &value);
      }
      return Status::Ok();
    });
  }
  if (status_.ok()) {
    napi_resolve_deferred(env, deferred_, value);
  } else {
    napi_value error = MakeError(env, status_, output_.conflict_keys);
    if (error != nullptr) napi_reject_deferred(env, deferred_, error);
  }
  Finish(env);
}

void AsyncJob::Finish(napi_env env) noexcept {
  StoreHandleRef handle = std::move(handle_);
  if (long_write_) --handle->long_writes;
  if (--handle->in_flight == 0) StartCloseWhenIdle(env, handle);
}

Napi::Value RunAsync(napi_env env, const StoreHandleRef& handle, JobOptions options, JobWork work,
                     JobResult result) {
  auto job =
      std::make_shared<AsyncJob>(handle, options.long_write, std::move(work), std::move(result));
  Napi::Value promise = job->Begin(env);
  try {
    options.threads->Run([job, completions = handle->context->completions()]() mutable {
      job->Execute();
      completions->Post(std::move(job));
    });
  } catch (...) {
    job->Cancel(env, CurrentExceptionAsStatus());
  }
  return promise;
}

Napi::Value RunSynced(napi_env env, const StoreHandleRef& handle,
                      const std::function<Status(Done)>& apply) {
  auto job = std::make_shared<AsyncJob>(handle, false, nullptr, nullptr);
  auto answered = std::make_shared<std::atomic<bool>>(false);
  Napi::Value promise = job->Begin(env);
  // A refusal may come back from the call, through `done`, or both: the first one counts.
  Done done = [job, answered, completions = handle->context->completions()](Status status) {
    if (answered->exchange(true)) return;
    job->SetStatus(std::move(status));
    completions->Post(job);
  };
  Status status = GuardStatus([&] { return apply(done); });
  if (!status.ok()) done(std::move(status));
  return promise;
}

JobResult ResultBytes() {
  return [](napi_env env, JobOutput& output) { return MakeBytes(env, std::move(output.bytes)); };
}

}  // namespace agenttx::node
