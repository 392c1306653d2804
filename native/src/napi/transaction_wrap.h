// Owns NativeTransaction: the JavaScript handle of an open transaction. Dropping it frees memory;
// the transaction stays open on disk. The caller makes one call at a time on a handle.
#pragma once

#include "arguments.h"
#include "node.h"
#include "store_handle.h"

namespace agenttx::node {

class TransactionWrap : public Napi::ObjectWrap<TransactionWrap> {
 public:
  static Napi::Function Define(Napi::Env env);
  // Takes what EnvContext::next_store and next_transaction hold; refuses scripts.
  explicit TransactionWrap(const Napi::CallbackInfo& info);
  ~TransactionWrap() override;

 private:
  Napi::Value Header(const Napi::CallbackInfo& info);
  Napi::Value BeginAttempt(const Napi::CallbackInfo& info);
  Napi::Value Get(const Napi::CallbackInfo& info);
  Napi::Value GetMany(const Napi::CallbackInfo& info);
  Napi::Value Scan(const Napi::CallbackInfo& info);
  Napi::Value Apply(const Napi::CallbackInfo& info);
  Napi::Value Restore(const Napi::CallbackInfo& info);
  Napi::Value Commit(const Napi::CallbackInfo& info);
  Napi::Value Discard(const Napi::CallbackInfo& info);
  Napi::Value Touched(const Napi::CallbackInfo& info);

  // Throws Refusal(kStoreClosed) and returns the store.
  Store& OpenStore() const;
  // A write of so many keys holds the write lock for long.
  bool IsLong() const;

  StoreHandleRef handle_;
  TransactionRef transaction_;
};

// JavaScript thread: makes the handle object. Throws Refusal.
napi_value NewTransaction(napi_env env, const StoreHandleRef& handle, TransactionRef transaction);

}  // namespace agenttx::node
