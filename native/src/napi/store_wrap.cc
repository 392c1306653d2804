// Owns NativeStore; see store_wrap.h.
#include "store_wrap.h"

#include "async_job.h"
#include "packing.h"

namespace agenttx::node {

Napi::Function StoreWrap::Define(Napi::Env env) {
  return DefineClass(env, "NativeStore",
                     {
                         InstanceMethod("incarnation", &StoreWrap::Incarnation),
                         InstanceMethod("warnings", &StoreWrap::Warnings),
                         InstanceMethod("begin", &StoreWrap::Begin),
                         InstanceMethod("attach", &StoreWrap::Attach),
                         InstanceMethod("fork", &StoreWrap::Fork),
                         InstanceMethod("claim", &StoreWrap::Claim),
                         InstanceMethod("tryLock", &StoreWrap::TryLock),
                         InstanceMethod("unlock", &StoreWrap::Unlock),
                         InstanceMethod("openTransactions", &StoreWrap::OpenTransactions),
                         InstanceMethod("getCommitted", &StoreWrap::GetCommitted),
                         InstanceMethod("scanCommitted", &StoreWrap::ScanCommitted),
                         InstanceMethod("readRecord", &StoreWrap::ReadRecord),
                         InstanceMethod("scanRecords", &StoreWrap::ScanRecords),
                         InstanceMethod("writeRecords", &StoreWrap::WriteRecords),
                         InstanceMethod("readAudit", &StoreWrap::ReadAudit),
                         InstanceMethod("checkpoint", &StoreWrap::Checkpoint),
                         InstanceMethod("stats", &StoreWrap::Stats),
                         InstanceMethod("reopen", &StoreWrap::Reopen),
                         InstanceMethod("close", &StoreWrap::Close),
                     });
}

StoreWrap::StoreWrap(const Napi::CallbackInfo& info) : Napi::ObjectWrap<StoreWrap>(info) {
  void* data = nullptr;
  if (napi_get_instance_data(info.Env(), &data) == napi_ok && data != nullptr) {
    handle_ = std::move(static_cast<EnvContext*>(data)->next_store);
  }
  if (handle_ == nullptr) {
    throw Napi::TypeError::New(info.Env(), "A NativeStore is made by open().");
  }
}

napi_value NewStore(napi_env env, StoreHandleRef handle) {
  EnvContext& context = EnvContext::From(env);
  context.next_store = std::move(handle);
  napi_value object;
  if (napi_new_instance(env, context.store_class.Value(), 0, nullptr, &object) != napi_ok) {
    context.next_store = nullptr;
    throw Refusal(Status(Code::kInternal, "The handle of the store could not be made."));
  }
  return object;
}

namespace {

// The promise of open(). It has no handle to count on yet, so it is a completion of its own.
class OpenJob final : public Completion {
 public:
  OpenJob(EnvContext* context, StoreOptions options)
      : context_(context), options_(std::move(options)) {}

  Napi::Value Begin(napi_env env) {
    napi_value promise;
    if (napi_create_promise(env, &deferred_, &promise) != napi_ok) {
      throw Refusal(Status(Code::kInternal, "No promise could be made; nothing was done."));
    }
    context_->completions()->Hold();
    return Napi::Value(env, promise);
  }

  void Execute() noexcept {
    status_ = GuardStatus([this] { return Store::Open(options_, &store_); });
  }

  void Fail(Status status) { status_ = std::move(status); }

  void Settle(napi_env env) noexcept override {
    napi_value value = nullptr;
    if (status_.ok()) {
      status_ = GuardStatus([&] {
        context_->Opened(store_);
        value = NewStore(env, std::make_shared<StoreHandle>(context_, store_));
        return Status::Ok();
      });
    }
    if (status_.ok()) {
      napi_resolve_deferred(env, deferred_, value);
    } else {
      napi_value error = MakeError(env, status_);
      if (error != nullptr) napi_reject_deferred(env, deferred_, error);
    }
  }

 private:
  EnvContext* const context_;
  const StoreOptions options_;
  std::shared_ptr<Store> store_;
  Status status_;
  napi_deferred deferred_ = nullptr;
};

StoreOptions DecodeOptions(const Arguments& args) {
  StoreOptions options;
  options.path = args.Text(0, "path");
  options.sync_writes = args.Flag(1, "syncWrites");
  options.salvage = args.Flag(2, "salvage");
  options.free_space_reserve_bytes = args.U53(3, "freeSpaceReserveBytes");
  options.block_cache_bytes = args.U53(4, "blockCacheBytes");
  options.write_buffer_bytes = args.U53(5, "writeBufferBytes");
  return options;
}

}  // namespace

Napi::Value StoreWrap::Open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return Guard(env, [&] {
    EnvContext& context = EnvContext::From(env);
    auto job = std::make_shared<OpenJob>(&context, DecodeOptions(Arguments(info)));
    Napi::Value promise = job->Begin(env);
    try {
      context.computing().Run([job, completions = context.completions()]() mutable {
        job->Execute();
        completions->Post(std::move(job));
      });
    } catch (...) {
      job->Fail(CurrentExceptionAsStatus());
      context.completions()->Release();
      job->Settle(env);
    }
    return promise;
  });
}

Napi::Value StoreWrap::Incarnation(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&]() -> Napi::Value {
    return Napi::BigInt::New(info.Env(), handle_->store->incarnation());
  });
}

Napi::Value StoreWrap::Warnings(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&]() -> Napi::Value {
    const std::vector<std::string> warnings = handle_->store->warnings();
    Napi::Array texts = Napi::Array::New(info.Env(), warnings.size());
    for (size_t i = 0; i < warnings.size(); ++i) {
      texts.Set(static_cast<uint32_t>(i), Napi::String::New(info.Env(), warnings[i]));
    }
    return texts;
  });
}

Napi::Value StoreWrap::Checkpoint(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    handle_->RequireOpen();
    auto work = [store = handle_->store, path = Arguments(info).Text(0, "path")](JobOutput&) {
      return store->Checkpoint(path);
    };
    return RunAsync(info.Env(), handle_, {.threads = &handle_->context->computing()},
                    std::move(work));
  });
}

Napi::Value StoreWrap::Stats(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    handle_->RequireOpen();
    auto work = [store = handle_->store](JobOutput& output) {
      agenttx::Stats stats;
      Status status = store->GetStats(&stats);
      output.numbers = {stats.commit_version, stats.open_transactions, stats.wal_syncs,
                        stats.batches,        stats.disk_bytes,        stats.memory_bytes};
      output.bytes = std::move(stats.poisoned);
      return status;
    };
    auto result = [handle = handle_](napi_env env, JobOutput& output) -> napi_value {
      Napi::Array stats = Napi::Array::New(env, output.numbers.size() + 2);
      uint32_t index = 0;
      for (uint64_t number : output.numbers) stats.Set(index++, Napi::BigInt::New(env, number));
      stats.Set(index++, Napi::BigInt::New(env, uint64_t{handle->transaction_handles}));
      stats.Set(index, output.bytes.empty() ? Napi::Env(env).Null()
                                            : Napi::Value(Napi::String::New(env, output.bytes)));
      return stats;
    };
    return RunAsync(info.Env(), handle_, {.threads = &handle_->context->computing()},
                    std::move(work), std::move(result));
  });
}

Napi::Value StoreWrap::Reopen(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    handle_->RequireOpen();
    auto work = [store = handle_->store](JobOutput&) { return store->Reopen(); };
    return RunAsync(info.Env(), handle_,
                    {.threads = &handle_->context->computing(), .long_write = true},
                    std::move(work));
  });
}

}  // namespace agenttx::node
