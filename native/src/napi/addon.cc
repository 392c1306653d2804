// Owns the module: loaded once per environment (context-aware), it exports open() and the
// constants that the TypeScript driver compares with its own when it loads.
#include "env_context.h"
#include "guard.h"
#include "node.h"
#include "status_to_error.h"
#include "store_wrap.h"
#include "transaction_wrap.h"

namespace agenttx::node {

namespace {

// Raised whenever a name, an argument or a packed format of this surface changes.
constexpr uint32_t kInterfaceVersion = 3;

Napi::Object NumberTable(Napi::Env env,
                         std::initializer_list<std::pair<const char*, uint32_t>> rows) {
  Napi::Object table = Napi::Object::New(env);
  for (const auto& [name, number] : rows) table.Set(name, Napi::Number::New(env, number));
  return table;
}

Napi::Object BatchOps(Napi::Env env) {
  auto number = [](BatchOp op) { return static_cast<uint32_t>(op); };
  return NumberTable(env, {{"put", number(BatchOp::kPut)},
                           {"delete", number(BatchOp::kDelete)},
                           {"recordPut", number(BatchOp::kRecordPut)},
                           {"recordDelete", number(BatchOp::kRecordDelete)},
                           {"audit", number(BatchOp::kAudit)},
                           {"storeAudit", number(BatchOp::kStoreAudit)},
                           {"payload", number(BatchOp::kPayload)},
                           {"fence", number(BatchOp::kFence)},
                           {"next", number(BatchOp::kNext)},
                           {"snapshot", number(BatchOp::kSnapshot)},
                           {"evidence", number(BatchOp::kEvidence)},
                           {"chainErase", number(BatchOp::kChainErase)},
                           {"recordStamped", number(BatchOp::kRecordStamped)}});
}

Napi::Object RecordSpaces(Napi::Env env) {
  auto number = [](RecordSpace space) { return static_cast<uint32_t>(space); };
  return NumberTable(env, {{"output", number(RecordSpace::kOutput)},
                           {"saga", number(RecordSpace::kSaga)},
                           {"effect", number(RecordSpace::kEffect)},
                           {"outbox", number(RecordSpace::kOutbox)},
                           {"request", number(RecordSpace::kRequest)},
                           {"terminal", number(RecordSpace::kTerminal)},
                           {"late", number(RecordSpace::kLate)},
                           {"meta", number(RecordSpace::kMeta)}});
}

Napi::Array ErrorCodes(Napi::Env env) {
  Napi::Array codes = Napi::Array::New(env);
  for (const char* name : CodeNames()) codes.Set(codes.Length(), Napi::String::New(env, name));
  return codes;
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  Guard(env, [&]() -> Napi::Value {
    EnvContext::Install(env);
    EnvContext& context = EnvContext::From(env);
    context.store_class = Napi::Persistent(StoreWrap::Define(env));
    context.transaction_class = Napi::Persistent(TransactionWrap::Define(env));
    exports.Set("interfaceVersion", Napi::Number::New(env, kInterfaceVersion));
    exports.Set("batchOps", BatchOps(env));
    exports.Set("recordSpaces", RecordSpaces(env));
    exports.Set("errorCodes", ErrorCodes(env));
    exports.Set("open", Napi::Function::New(env, StoreWrap::Open, "open"));
    return exports;
  });
  return exports;
}

}  // namespace

}  // namespace agenttx::node

static Napi::Object InitAgentTx(Napi::Env env, Napi::Object exports) {
  return agenttx::node::Init(env, exports);
}

NODE_API_MODULE(agenttx, InitAgentTx)
