// Owns how a transaction handle comes to be: begin, attach and fork.
#include "async_job.h"
#include "store_wrap.h"
#include "transaction_wrap.h"

namespace agenttx::node {

namespace {

struct BeginArguments {
  BeginOptions options;
  std::string_view batch;
};

// serializable, bytesMax, keysMax, batch, batchLength from `first` on.
BeginArguments DecodeBegin(const Arguments& args, size_t first) {
  BeginArguments begin;
  begin.options.serializable = args.Flag(first, "serializable");
  begin.options.bytes_max = args.U53(first + 1, "bytesMax");
  begin.options.keys_max = args.U53(first + 2, "keysMax");
  begin.batch = args.Prefix(first + 3, "batch");
  return begin;
}

JobResult ResultTransaction(StoreHandleRef handle) {
  return [handle = std::move(handle)](napi_env env, JobOutput& output) {
    return NewTransaction(env, handle, std::move(output.transaction));
  };
}

}  // namespace

// begin(namespace, id, serializable, bytesMax, keysMax, batch, batchLength)
Napi::Value StoreWrap::Begin(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return Guard(env, [&]() -> Napi::Value {
    handle_->RequireOpen();
    const Arguments args(info);
    TransactionName name{args.Text(0, "namespace"), args.Text(1, "id")};
    BeginArguments begin = DecodeBegin(args, 2);
    if (handle_->MayRunInline(begin.batch.size())) {
      TransactionRef transaction;
      begin.options.no_slowdown = true;
      Status status = handle_->store->Begin(name, begin.options, begin.batch, &transaction);
      if (status.ok()) {
        return Napi::Value(env, NewTransaction(env, handle_, std::move(transaction)));
      }
      // It would have had to wait: repeated below, where waiting is allowed.
      if (status.code() != Code::kResourceExhausted) throw Refusal(std::move(status));
      begin.options.no_slowdown = false;
    }
    auto work = [store = handle_->store, name = std::move(name), options = begin.options,
                 batch = std::string(begin.batch)](JobOutput& output) {
      return store->Begin(name, options, batch, &output.transaction);
    };
    return RunAsync(env, handle_, {.threads = &handle_->write_threads()}, std::move(work),
                    ResultTransaction(handle_));
  });
}

// attach(namespace, id)
Napi::Value StoreWrap::Attach(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    handle_->RequireOpen();
    const Arguments args(info);
    auto work = [store = handle_->store,
                 name = TransactionName{args.Text(0, "namespace"), args.Text(1, "id")}](
                    JobOutput& output) { return store->Attach(name, &output.transaction); };
    return RunAsync(info.Env(), handle_, {.threads = &handle_->context->computing()},
                    std::move(work), ResultTransaction(handle_));
  });
}

// fork(namespace, from, step, id, serializable, bytesMax, keysMax, batch, batchLength)
Napi::Value StoreWrap::Fork(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    handle_->RequireOpen();
    const Arguments args(info);
    const std::string ns = args.Text(0, "namespace");
    const BeginArguments begin = DecodeBegin(args, 4);
    auto work = [store = handle_->store, from = TransactionName{ns, args.Text(1, "from")},
                 step = args.U32(2, "step"), name = TransactionName{ns, args.Text(3, "id")},
                 options = begin.options, batch = std::string(begin.batch)](JobOutput& output) {
      return store->Fork(from, step, name, options, batch, &output.transaction);
    };
    return RunAsync(info.Env(), handle_, {.threads = &handle_->write_threads(), .long_write = true},
                    std::move(work), ResultTransaction(handle_));
  });
}

}  // namespace agenttx::node
