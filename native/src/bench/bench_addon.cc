// Owns the face of agenttx_bench.node: RawDatabase from JavaScript, every call on the calling
// thread, with the same kind of argument passing as the product. Not shipped.
//
// new RawDatabase(path, syncWrites)
//   put(bytes, keyLength, valueLength)       key and value stand one after the other in `bytes`
//   get(bytes, keyLength)                    length of the value, now in `bytes`, or null
//   putBatch(entries, length)
//   writeJournaled(writes, keys, valueBytes)
//   restoreEntryByEntry()                    number of records
//   close()
//
// rocksdbVersion  text
#include <rocksdb/version.h>

#include "../napi/arguments.h"
#include "../napi/guard.h"
#include "raw_database.h"

namespace agenttx::bench {

namespace {

using node::Arguments;
using node::Guard;
using node::Refusal;

void Require(const rocksdb::Status& status) {
  if (!status.ok()) throw Refusal(Status(Code::kInternal, status.ToString()));
}

class RawDatabaseWrap : public Napi::ObjectWrap<RawDatabaseWrap> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(
        env, "RawDatabase",
        {InstanceMethod("put", &RawDatabaseWrap::Put), InstanceMethod("get", &RawDatabaseWrap::Get),
         InstanceMethod("putBatch", &RawDatabaseWrap::PutBatch),
         InstanceMethod("writeJournaled", &RawDatabaseWrap::WriteJournaled),
         InstanceMethod("restoreEntryByEntry", &RawDatabaseWrap::RestoreEntryByEntry),
         InstanceMethod("close", &RawDatabaseWrap::Close)});
  }

  explicit RawDatabaseWrap(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<RawDatabaseWrap>(info) {
    Guard(info.Env(), [&]() -> Napi::Value {
      const Arguments args(info);
      Require(RawDatabase::Open(args.Text(0, "path"), args.Flag(1, "syncWrites"), &database_));
      return {};
    });
  }

 private:
  RawDatabase& Open() const {
    if (database_ == nullptr) throw Refusal(Status(Code::kStoreClosed, "The database is closed."));
    return *database_;
  }

  Napi::Value Put(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      const Arguments args(info);
      const node::ByteSpan bytes = args.Bytes(0, "bytes");
      const uint32_t key = args.U32(1, "keyLength");
      const uint32_t value = args.U32(2, "valueLength");
      if (uint64_t{key} + value > bytes.size) {
        throw Refusal(Status(Code::kInvalidArgument, "bytes is shorter than its lengths."));
      }
      const std::string_view both = bytes.View(key + value);
      Require(Open().Put(both.substr(0, key), both.substr(key)));
      return info.Env().Undefined();
    });
  }

  Napi::Value Get(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      const Arguments args(info);
      std::string value;
      bool found = false;
      Require(Open().Get(args.Prefix(0, "bytes"), &value, &found));
      if (!found) return info.Env().Null();
      const node::ByteSpan bytes = args.Bytes(0, "bytes");
      if (value.size() > bytes.size) {
        throw Refusal(Status(Code::kInvalidArgument, "bytes is too short for the value."));
      }
      value.copy(reinterpret_cast<char*>(bytes.data), value.size());
      return Napi::Number::New(info.Env(), static_cast<double>(value.size()));
    });
  }

  Napi::Value PutBatch(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      Require(Open().PutBatch(Arguments(info).Prefix(0, "entries")));
      return info.Env().Undefined();
    });
  }

  Napi::Value WriteJournaled(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      const Arguments args(info);
      Require(Open().WriteJournaled(args.U32(0, "writes"), args.U32(1, "keys"),
                                    args.U32(2, "valueBytes")));
      return info.Env().Undefined();
    });
  }

  Napi::Value RestoreEntryByEntry(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      uint32_t restored = 0;
      Require(Open().RestoreEntryByEntry(&restored));
      return Napi::Number::New(info.Env(), restored);
    });
  }

  Napi::Value Close(const Napi::CallbackInfo& info) {
    database_ = nullptr;
    return info.Env().Undefined();
  }

  std::unique_ptr<RawDatabase> database_;
};

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  Guard(env, [&]() -> Napi::Value {
    exports.Set("RawDatabase", RawDatabaseWrap::Define(env));
    exports.Set("rocksdbVersion", rocksdb::GetRocksVersionAsString(true));
    return exports;
  });
  return exports;
}

}  // namespace

}  // namespace agenttx::bench

static Napi::Object InitBench(Napi::Env env, Napi::Object exports) {
  return agenttx::bench::Init(env, exports);
}

NODE_API_MODULE(agenttx_bench, InitBench)
