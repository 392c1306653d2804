// Owns the records beside the state: one at once, pages and batches on another thread.
#include "async_job.h"
#include "packing.h"
#include "store_wrap.h"

namespace agenttx::node {

namespace {

RecordSpace DecodeSpace(const Arguments& args, size_t index) {
  const uint32_t space = args.U32(index, "space");
  if (space < static_cast<uint32_t>(RecordSpace::kOutput) ||
      space > static_cast<uint32_t>(RecordSpace::kMeta)) {
    throw Refusal(Status(Code::kInvalidArgument, "space must be a number of recordSpaces."));
  }
  return static_cast<RecordSpace>(space);
}

// The last entry of the page before: afterId (null for none), afterStep, afterSeq, afterName.
std::optional<RecordEntry> DecodeAfter(const Arguments& args, size_t first) {
  std::optional<std::string> id = args.TextOrNull(first, "afterId");
  if (!id) return std::nullopt;
  RecordEntry after;
  after.tx = std::move(*id);
  after.step = args.U32(first + 1, "afterStep");
  after.seq = args.U53(first + 2, "afterSeq");
  after.name = args.Text(first + 3, "afterName");
  return after;
}

}  // namespace

// readRecord(namespace, id, space, step, seq, name)
Napi::Value StoreWrap::ReadRecord(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&]() -> Napi::Value {
    handle_->RequireOpen();
    const Arguments args(info);
    const TransactionName name{args.Text(0, "namespace"), args.Text(1, "id")};
    std::optional<std::string> value;
    Status status = handle_->store->ReadRecord(name, DecodeSpace(args, 2), args.U32(3, "step"),
                                               args.U53(4, "seq"), args.Text(5, "name"), &value);
    if (!status.ok()) throw Refusal(std::move(status));
    if (!value) return info.Env().Null();
    return Napi::Value(info.Env(), MakeBytes(info.Env(), std::move(*value)));
  });
}

// scanRecords(namespace, id, space, fromStep, afterId, afterStep, afterSeq, afterName, limit)
Napi::Value StoreWrap::ScanRecords(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    handle_->RequireOpen();
    const Arguments args(info);
    std::optional<std::string> id = args.TextOrNull(1, "id");
    const bool all = !id.has_value();
    auto work = [store = handle_->store, all,
                 name = TransactionName{args.Text(0, "namespace"), id.value_or("")},
                 space = DecodeSpace(args, 2), from_step = args.U32(3, "fromStep"),
                 after = DecodeAfter(args, 4), limit = args.U32(8, "limit")](JobOutput& output) {
      std::vector<RecordEntry> records;
      Status status = store->ScanRecords(name, all, space, from_step, after, limit, &records);
      if (status.ok()) output.bytes = PackRecords(records);
      return status;
    };
    return RunAsync(info.Env(), handle_, {.threads = &handle_->context->computing()},
                    std::move(work), ResultBytes());
  });
}

// writeRecords(namespace, id, batch, batchLength)
Napi::Value StoreWrap::WriteRecords(const Napi::CallbackInfo& info) {
  return Guard(info.Env(), [&] {
    handle_->RequireOpen();
    const Arguments args(info);
    auto work = [store = handle_->store,
                 name = TransactionName{args.Text(0, "namespace"), args.Text(1, "id")},
                 batch = std::string(args.Prefix(2, "batch"))](JobOutput&) {
      return store->WriteRecords(name, batch);
    };
    return RunAsync(info.Env(), handle_, {.threads = &handle_->write_threads()}, std::move(work));
  });
}

}  // namespace agenttx::node
