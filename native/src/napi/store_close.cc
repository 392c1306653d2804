// Owns closing: no new work, then wait for the work in flight, then close the core, all without
// blocking the JavaScript thread. Every caller of close() gets the same answer.
#include "async_job.h"
#include "store_wrap.h"

namespace agenttx::node {

namespace {

class CloseJob final : public Completion {
 public:
  explicit CloseJob(StoreHandleRef handle) : handle_(std::move(handle)) {}

  void Execute() noexcept {
    status_ = GuardStatus([this] { return handle_->store->Close(); });
  }

  void Fail(Status status) { status_ = std::move(status); }

  void Settle(napi_env env) noexcept override {
    handle_->context->Closed(handle_->store);
    std::vector<napi_deferred> closers = std::move(handle_->closers);
    for (napi_deferred closer : closers) {
      if (status_.ok()) {
        napi_value undefined = nullptr;
        napi_get_undefined(env, &undefined);
        napi_resolve_deferred(env, closer, undefined);
        continue;
      }
      napi_value error = MakeError(env, status_);
      if (error != nullptr) napi_reject_deferred(env, closer, error);
    }
  }

 private:
  StoreHandleRef handle_;
  Status status_;
};

}  // namespace

void StartCloseWhenIdle(napi_env env, const StoreHandleRef& handle) noexcept {
  if (!handle->closed || handle->close_started || handle->in_flight > 0) return;
  handle->close_started = true;
  EnvContext* const context = handle->context;
  std::shared_ptr<CloseJob> job;
  context->completions()->Hold();
  try {
    job = std::make_shared<CloseJob>(handle);
    context->computing().Run([job, completions = context->completions()]() mutable {
      job->Execute();
      completions->Post(std::move(job));
    });
  } catch (...) {
    // Without a thread the close runs here: late is better than never.
    context->completions()->Release();
    if (job == nullptr) return;
    job->Execute();
    job->Settle(env);
  }
}

Napi::Value StoreWrap::Close(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return Guard(env, [&] {
    napi_deferred deferred;
    napi_value promise;
    if (napi_create_promise(env, &deferred, &promise) != napi_ok) {
      throw Refusal(Status(Code::kInternal, "No promise could be made; nothing was done."));
    }
    const bool finished = handle_->close_started && handle_->closers.empty();
    if (finished) {
      napi_resolve_deferred(env, deferred, env.Undefined());
      return Napi::Value(env, promise);
    }
    handle_->closed = true;
    handle_->closers.push_back(deferred);
    StartCloseWhenIdle(env, handle_);
    return Napi::Value(env, promise);
  });
}

}  // namespace agenttx::node
