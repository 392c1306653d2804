// Owns NativeTransaction; see transaction_wrap.h.
#include "transaction_wrap.h"

#include "async_job.h"
#include "packing.h"
#include "read_result.h"

namespace agenttx::node {

namespace {

// Keys of one getMany() that are read at once; more take longer than a visit to a thread.
constexpr size_t kInlineKeysMax = 64;
// Keys whose publishing takes about a millisecond.
constexpr uint64_t kShortWriteKeysMax = 1000;

Napi::Array Pair(Napi::Env env, Napi::Value first, Napi::Value second) {
  Napi::Array pair = Napi::Array::New(env, 2);
  pair.Set(uint32_t{0}, first);
  pair.Set(uint32_t{1}, second);
  return pair;
}

Napi::Number Number(Napi::Env env, uint64_t value) {
  return Napi::Number::New(env, static_cast<double>(value));
}

Status ReadMany(Store& store, const TransactionRef& transaction, std::string_view packed_keys,
                bool validate, std::string* packed_values) {
  const std::vector<std::string_view> keys = UnpackKeys(packed_keys);
  std::vector<std::optional<std::string>> values(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    Status status = store.Get(transaction, keys[i], validate, &values[i]);
    if (!status.ok()) return status;
  }
  *packed_values = PackValues(values);
  return Status::Ok();
}

}  // namespace

Napi::Function TransactionWrap::Define(Napi::Env env) {
  return DefineClass(env, "NativeTransaction",
                     {
                         InstanceMethod("header", &TransactionWrap::Header),
                         InstanceMethod("beginAttempt", &TransactionWrap::BeginAttempt),
                         InstanceMethod("get", &TransactionWrap::Get),
                         InstanceMethod("getMany", &TransactionWrap::GetMany),
                         InstanceMethod("scan", &TransactionWrap::Scan),
                         InstanceMethod("apply", &TransactionWrap::Apply),
                         InstanceMethod("restore", &TransactionWrap::Restore),
                         InstanceMethod("commit", &TransactionWrap::Commit),
                         InstanceMethod("discard", &TransactionWrap::Discard),
                         InstanceMethod("touched", &TransactionWrap::Touched),
                     });
}

TransactionWrap::TransactionWrap(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<TransactionWrap>(info) {
  void* data = nullptr;
  if (napi_get_instance_data(info.Env(), &data) == napi_ok && data != nullptr) {
    auto* context = static_cast<EnvContext*>(data);
    handle_ = std::move(context->next_store);
    transaction_ = std::move(context->next_transaction);
  }
  if (handle_ == nullptr || transaction_ == nullptr) {
    handle_ = nullptr;  // the destructor counts only finished handles
    throw Napi::TypeError::New(info.Env(), "A NativeTransaction is made by begin().");
  }
  ++handle_->transaction_handles;
}

TransactionWrap::~TransactionWrap() {
  if (handle_ != nullptr) --handle_->transaction_handles;
}

napi_value NewTransaction(napi_env env, const StoreHandleRef& handle, TransactionRef transaction) {
  EnvContext& context = EnvContext::From(env);
  context.next_store = handle;
  context.next_transaction = std::move(transaction);
  napi_value object;
  if (napi_new_instance(env, context.transaction_class.Value(), 0, nullptr, &object) != napi_ok) {
    context.next_store = nullptr;
    context.next_transaction = nullptr;
    throw Refusal(Status(Code::kInternal, "The handle of the transaction could not be made."));
  }
  return object;
}

Store& TransactionWrap::OpenStore() const {
  handle_->RequireOpen();
  return *handle_->store;
}

bool TransactionWrap::IsLong() const {
  uint64_t read = 0;
  uint64_t written = 0;
  handle_->store->Touched(transaction_, &read, &written);
  return written > kShortWriteKeysMax;
}

// header(numbers): fills incarnation, owner, attempt, step, snapshot; returns the payload
Napi::Value TransactionWrap::Header(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    uint64_t* numbers = Arguments(info).U64Array(0, 5, "numbers");
    agenttx::Header header = OpenStore().GetHeader(transaction_);
    numbers[0] = header.incarnation;
    numbers[1] = header.owner;
    numbers[2] = header.attempt;
    numbers[3] = header.step;
    numbers[4] = header.snapshot;
    return Napi::Value(info.Env(), MakeBytes(info.Env(), std::move(header.payload)));
  });
}

// beginAttempt()
Napi::Value TransactionWrap::BeginAttempt(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&]() -> Napi::Value {
    uint64_t attempt = 0;
    Status status = OpenStore().BeginAttempt(transaction_, &attempt);
    if (!status.ok()) throw Refusal(std::move(status));
    return Number(info.Env(), attempt);
  });
}

// get(scratch, keyLength, validate)
Napi::Value TransactionWrap::Get(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    const Arguments args(info);
    const std::string_view key = args.Prefix(0, "key");
    std::optional<std::string> value;
    Status status = OpenStore().Get(transaction_, key, args.Flag(2, "validate"), &value);
    if (!status.ok()) throw Refusal(std::move(status));
    return ReadResult(info.Env(), args.Bytes(0, "scratch"), std::move(value));
  });
}

// getMany(packedKeys, length, validate)
Napi::Value TransactionWrap::GetMany(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    const Arguments args(info);
    const std::string_view packed = args.Prefix(0, "keys");
    const bool validate = args.Flag(2, "validate");
    Store& store = OpenStore();
    if (UnpackKeys(packed).size() <= kInlineKeysMax) {
      std::string values;
      Status status = ReadMany(store, transaction_, packed, validate, &values);
      if (!status.ok()) throw Refusal(std::move(status));
      return Napi::Value(info.Env(), MakeBytes(info.Env(), std::move(values)));
    }
    auto work = [store = handle_->store, transaction = transaction_, keys = std::string(packed),
                 validate](JobOutput& output) {
      return ReadMany(*store, transaction, keys, validate, &output.bytes);
    };
    return RunAsync(info.Env(), handle_, {.threads = &handle_->context->computing()},
                    std::move(work), ResultBytes());
  });
}

// scan(start, end, reverse, limit)
Napi::Value TransactionWrap::Scan(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    handle_->RequireOpen();
    auto work = [store = handle_->store, transaction = transaction_,
                 range = DecodeRange(Arguments(info), 0)](JobOutput& output) {
      std::vector<Entry> entries;
      Status status = store->Scan(transaction, range, &entries);
      if (status.ok()) output.bytes = PackEntries(entries);
      return status;
    };
    return RunAsync(info.Env(), handle_, {.threads = &handle_->context->computing()},
                    std::move(work), ResultBytes());
  });
}

// apply(batch, batchLength)
Napi::Value TransactionWrap::Apply(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return Guard(env, [&]() -> Napi::Value {
    const std::string_view batch = Arguments(info).Prefix(0, "batch");
    Store& store = OpenStore();
    if (handle_->sync_writes) {
      return RunSynced(env, handle_, [&](Done done) {
        return store.Apply(transaction_, batch, false, std::move(done));
      });
    }
    if (handle_->MayRunInline(batch.size())) {
      Status status = store.Apply(transaction_, batch, true, nullptr);
      if (status.ok()) return env.Undefined();
      // It would have had to wait: repeated below, where waiting is allowed.
      if (status.code() != Code::kResourceExhausted) throw Refusal(std::move(status));
    }
    auto work = [store = handle_->store, transaction = transaction_, batch = std::string(batch)](
                    JobOutput&) { return store->Apply(transaction, batch, false, nullptr); };
    return RunAsync(env, handle_, {.threads = &handle_->context->computing()}, std::move(work));
  });
}

// restore(step, batch, batchLength)
Napi::Value TransactionWrap::Restore(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    handle_->RequireOpen();
    const Arguments args(info);
    auto work = [store = handle_->store, transaction = transaction_, step = args.U32(0, "step"),
                 batch = std::string(args.Prefix(1, "batch"))](JobOutput& output) {
      RestoreResult restored;
      Status status = store->Restore(transaction, step, batch, &restored);
      output.numbers = {restored.writes_reverted, restored.keys_restored};
      return status;
    };
    auto result = [](napi_env env, JobOutput& output) -> napi_value {
      return Pair(env, Number(env, output.numbers[0]), Number(env, output.numbers[1]));
    };
    return RunAsync(info.Env(), handle_,
                    {.threads = &handle_->write_threads(), .long_write = IsLong()}, std::move(work),
                    std::move(result));
  });
}

// commit(batch, batchLength)
Napi::Value TransactionWrap::Commit(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    handle_->RequireOpen();
    auto work = [store = handle_->store, transaction = transaction_,
                 batch = std::string(Arguments(info).Prefix(0, "batch"))](JobOutput& output) {
      CommitResult committed;
      Status status = store->Commit(transaction, batch, &committed);
      output.numbers = {committed.commit_version, committed.keys_published};
      output.conflict_keys = std::move(committed.conflict_keys);
      return status;
    };
    auto result = [](napi_env env, JobOutput& output) -> napi_value {
      return Pair(env, Napi::BigInt::New(env, output.numbers[0]), Number(env, output.numbers[1]));
    };
    return RunAsync(info.Env(), handle_,
                    {.threads = &handle_->write_threads(), .long_write = IsLong()}, std::move(work),
                    std::move(result));
  });
}

// discard(batch, batchLength)
Napi::Value TransactionWrap::Discard(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    handle_->RequireOpen();
    auto work = [store = handle_->store, transaction = transaction_,
                 batch = std::string(Arguments(info).Prefix(0, "batch"))](JobOutput&) {
      return store->Discard(transaction, batch);
    };
    return RunAsync(info.Env(), handle_,
                    {.threads = &handle_->write_threads(), .long_write = IsLong()},
                    std::move(work));
  });
}

// touched()
Napi::Value TransactionWrap::Touched(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&]() -> Napi::Value {
    uint64_t read = 0;
    uint64_t written = 0;
    OpenStore().Touched(transaction_, &read, &written);
    return Pair(info.Env(), Number(info.Env(), read), Number(info.Env(), written));
  });
}

}  // namespace agenttx::node
