// Owns NativeStore: the JavaScript handle of an open store. Thin: decode arguments, call the core,
// hand back bytes. The surface is documented in native/lib/index.d.ts, same names and order.
#pragma once

#include "arguments.h"
#include "node.h"
#include "store_handle.h"

namespace agenttx::node {

class StoreWrap : public Napi::ObjectWrap<StoreWrap> {
 public:
  static Napi::Function Define(Napi::Env env);
  // Takes what EnvContext::next_store holds; refuses scripts.
  explicit StoreWrap(const Napi::CallbackInfo& info);

  // open(path, syncWrites, salvage, freeSpaceReserveBytes, blockCacheBytes, writeBufferBytes)
  static Napi::Value Open(const Napi::CallbackInfo& info);

 private:
  Napi::Value Incarnation(const Napi::CallbackInfo& info);
  Napi::Value Warnings(const Napi::CallbackInfo& info);
  Napi::Value Begin(const Napi::CallbackInfo& info);
  Napi::Value Attach(const Napi::CallbackInfo& info);
  Napi::Value Fork(const Napi::CallbackInfo& info);
  Napi::Value Claim(const Napi::CallbackInfo& info);
  Napi::Value TryLock(const Napi::CallbackInfo& info);
  Napi::Value Unlock(const Napi::CallbackInfo& info);
  Napi::Value OpenTransactions(const Napi::CallbackInfo& info);
  Napi::Value GetCommitted(const Napi::CallbackInfo& info);
  Napi::Value ScanCommitted(const Napi::CallbackInfo& info);
  Napi::Value ReadRecord(const Napi::CallbackInfo& info);
  Napi::Value ScanRecords(const Napi::CallbackInfo& info);
  Napi::Value WriteRecords(const Napi::CallbackInfo& info);
  Napi::Value ReadAudit(const Napi::CallbackInfo& info);
  Napi::Value Checkpoint(const Napi::CallbackInfo& info);
  Napi::Value Stats(const Napi::CallbackInfo& info);
  Napi::Value Reopen(const Napi::CallbackInfo& info);
  Napi::Value Close(const Napi::CallbackInfo& info);

  StoreHandleRef handle_;
};

// JavaScript thread: makes the handle object. Throws Refusal.
napi_value NewStore(napi_env env, StoreHandleRef handle);

}  // namespace agenttx::node
