// Owns what one environment (the main thread or a worker) has of this addon: its classes, its
// threads, its completions and the stores it opened.
//
// INVARIANT: a store stays open until it is closed or the environment ends. Garbage collection
// frees memory and decides nothing.
// INVARIANT: after Shutdown() no thread of ours runs and no store of this environment is open.
#pragma once

#include <memory>
#include <set>

#include "agenttx/store.h"
#include "completions.h"
#include "node.h"
#include "thread_pool.h"

namespace agenttx::node {

struct StoreHandle;

class EnvContext {
 public:
  // Called once per environment by module initialisation.
  static void Install(Napi::Env env);
  static EnvContext& From(napi_env env);
  ~EnvContext();

  // Work that computes: few threads, so that the JavaScript thread keeps its processor.
  ThreadPool& computing() { return computing_; }
  // Work that mostly waits for an fsync: many threads, so that waiters share it.
  ThreadPool& waiting() { return waiting_; }
  const std::shared_ptr<Completions>& completions() const { return completions_; }

  void Opened(std::shared_ptr<Store> store);
  void Closed(const std::shared_ptr<Store>& store);
  // Idempotent: by the clean-up hook, or by process exit where Node runs no hooks.
  void Shutdown() noexcept;

  Napi::FunctionReference store_class;
  Napi::FunctionReference transaction_class;
  // Handed to the constructor that is about to run; scripts cannot construct handles themselves.
  std::shared_ptr<StoreHandle> next_store;
  TransactionRef next_transaction;

 private:
  EnvContext() : computing_("agenttx-work", 4), waiting_("agenttx-wait", 32) {}

  std::shared_ptr<Completions> completions_;
  ThreadPool computing_;
  ThreadPool waiting_;
  std::set<std::shared_ptr<Store>> open_stores_;
  bool shut_down_ = false;
};

}  // namespace agenttx::node
