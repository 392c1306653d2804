// Owns the reads of a store: point reads at once, scans on another thread.
#include <cstring>

#include "async_job.h"
#include "packing.h"
#include "read_result.h"
#include "store_wrap.h"

namespace agenttx::node {

// getCommitted(namespace, scratch, keyLength, version)
Napi::Value StoreWrap::GetCommitted(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    handle_->RequireOpen();
    const Arguments args(info);
    const std::string ns = args.Text(0, "namespace");
    const std::string_view key = args.Prefix(1, "key");
    uint64_t* version = args.U64Array(3, 1, "version");
    std::optional<std::string> value;
    Status status = handle_->store->GetCommitted(ns, key, &value, version);
    if (!status.ok()) throw Refusal(std::move(status));
    return ReadResult(info.Env(), args.Bytes(1, "scratch"), std::move(value));
  });
}

// scanCommitted(namespace, start, end, reverse, limit)
Napi::Value StoreWrap::ScanCommitted(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    handle_->RequireOpen();
    const Arguments args(info);
    auto work = [store = handle_->store, ns = args.Text(0, "namespace"),
                 range = DecodeRange(args, 1)](JobOutput& output) {
      std::vector<Entry> entries;
      Status status = store->ScanCommitted(ns, range, &entries);
      if (status.ok()) output.bytes = PackEntries(entries);
      return status;
    };
    return RunAsync(info.Env(), handle_, {.threads = &handle_->context->computing()},
                    std::move(work), ResultBytes());
  });
}

// claim(namespace, id, takeOver)
Napi::Value StoreWrap::Claim(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&]() -> Napi::Value {
    handle_->RequireOpen();
    const Arguments args(info);
    bool is_ours = false;
    Status status = handle_->store->Claim({args.Text(0, "namespace"), args.Text(1, "id")},
                                          args.Flag(2, "takeOver"), &is_ours);
    if (!status.ok()) throw Refusal(std::move(status));
    return Napi::Boolean::New(info.Env(), is_ours);
  });
}

// tryLock(name)
Napi::Value StoreWrap::TryLock(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&]() -> Napi::Value {
    handle_->RequireOpen();
    uint64_t token = 0;
    Status status = handle_->store->TryLock(Arguments(info).Text(0, "name"), &token);
    if (!status.ok()) throw Refusal(std::move(status));
    return Napi::Number::New(info.Env(), static_cast<double>(token));
  });
}

// unlock(name, token); also after close, when the lock is free already
Napi::Value StoreWrap::Unlock(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&]() -> Napi::Value {
    const Arguments args(info);
    handle_->store->Unlock(args.Text(0, "name"), args.U53(1, "token"));
    return info.Env().Undefined();
  });
}

// openTransactions(afterNamespace, afterId, limit)
Napi::Value StoreWrap::OpenTransactions(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    handle_->RequireOpen();
    const Arguments args(info);
    std::optional<TransactionName> after;
    std::optional<std::string> after_id = args.TextOrNull(1, "afterId");
    if (after_id) {
      after = TransactionName{args.Text(0, "afterNamespace"), std::move(*after_id)};
    }
    auto work = [store = handle_->store, after = std::move(after),
                 limit = args.U32(2, "limit")](JobOutput& output) {
      std::vector<OpenTransaction> open;
      Status status = store->OpenTransactions(after, limit, &open);
      if (status.ok()) output.bytes = PackTransactions(open);
      return status;
    };
    return RunAsync(info.Env(), handle_, {.threads = &handle_->context->computing()},
                    std::move(work), ResultBytes());
  });
}

// readAudit(namespace, id, fromSeq, limit)
Napi::Value StoreWrap::ReadAudit(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    handle_->RequireOpen();
    const Arguments args(info);
    std::optional<TransactionName> name;
    std::optional<std::string> id = args.TextOrNull(1, "id");
    if (id) name = TransactionName{args.Text(0, "namespace"), std::move(*id)};
    auto work = [store = handle_->store, name = std::move(name), from = args.U53(2, "fromSeq"),
                 limit = args.U32(3, "limit")](JobOutput& output) {
      std::vector<AuditEntry> entries;
      Status status = store->ReadAudit(name, from, limit, &entries);
      if (status.ok()) output.bytes = PackAudit(entries);
      return status;
    };
    return RunAsync(info.Env(), handle_, {.threads = &handle_->context->computing()},
                    std::move(work), ResultBytes());
  });
}

}  // namespace agenttx::node
