// Owns the state that a store and its transactions share within one environment, and the way work
// leaves the JavaScript thread. All of it is touched on the JavaScript thread only.
//
// INVARIANT: once `closed` is set no new work starts; the core is closed when `in_flight` is zero.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "agenttx/store.h"
#include "env_context.h"
#include "guard.h"
#include "node.h"

namespace agenttx::node {

// Larger batches, and any batch while long work holds the write lock, go to another thread.
inline constexpr size_t kInlineBatchBytesMax = 64 * 1024;

struct StoreHandle {
  StoreHandle(EnvContext* context_in, std::shared_ptr<Store> store_in)
      : context(context_in), store(std::move(store_in)), sync_writes(store->sync_writes()) {}

  EnvContext* const context;
  const std::shared_ptr<Store> store;
  const bool sync_writes;
  bool closed = false;
  bool close_started = false;
  size_t in_flight = 0;
  // Commits and restores of many keys that run now: a small write would wait behind them.
  size_t long_writes = 0;
  // Transaction objects that garbage collection has not taken yet: shown by stats().
  size_t transaction_handles = 0;
  std::vector<napi_deferred> closers;

  // Throws Refusal(kStoreClosed).
  void RequireOpen() const {
    if (closed) throw Refusal(Status(Code::kStoreClosed, "The store is closed; nothing was done."));
  }
  bool MayRunInline(size_t batch_bytes) const {
    return !sync_writes && long_writes == 0 && batch_bytes <= kInlineBatchBytesMax;
  }
  // Threads for work that writes: with sync_writes it mostly waits.
  ThreadPool& write_threads() const {
    return sync_writes ? context->waiting() : context->computing();
  }
};

using StoreHandleRef = std::shared_ptr<StoreHandle>;

// Called when `in_flight` has become zero on a handle that is closing (store_close.cc).
void StartCloseWhenIdle(napi_env env, const StoreHandleRef& handle) noexcept;

}  // namespace agenttx::node
