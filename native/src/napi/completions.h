// Owns the way back to the JavaScript thread: one queue and one thread-safe function per
// environment. Whatever completed since the last wake-up is settled in one.
//
// INVARIANT: after Close() nothing touches the thread-safe function, from any thread.
// INVARIANT: the event loop stays alive exactly while a promise is pending.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "node.h"

namespace agenttx::node {

class Completion {
 public:
  virtual ~Completion() = default;
  // Called once, on the JavaScript thread, inside a handle scope. Not called when the environment
  // ends first: then nobody is left to hear it.
  virtual void Settle(napi_env env) noexcept = 0;

 private:
  friend class Completions;
  std::shared_ptr<Completion> next_;
};

class Completions {
 public:
  // JavaScript thread. Null with a pending exception when Node refuses.
  static std::shared_ptr<Completions> Create(napi_env env);
  ~Completions();

  // JavaScript thread: one more promise is pending.
  void Hold();
  // JavaScript thread: a held promise was settled without Post().
  void Release();
  // Any thread; allocates nothing. Each held completion is posted at most once.
  void Post(std::shared_ptr<Completion> completion) noexcept;
  // JavaScript thread, or the main thread at process exit. Idempotent.
  void Close() noexcept;

 private:
  Completions() = default;
  static void OnWake(napi_env env, napi_value, void* context, void*);
  void Drain(napi_env env) noexcept;
  std::shared_ptr<Completion> TakeAll() noexcept;

  napi_env env_ = nullptr;
  napi_threadsafe_function wake_ = nullptr;
  size_t held_ = 0;  // JavaScript thread only

  std::mutex mutex_;
  bool closed_ = false;                // guarded by mutex_
  bool waking_ = false;                // guarded by mutex_
  std::shared_ptr<Completion> first_;  // guarded by mutex_
  Completion* last_ = nullptr;         // guarded by mutex_
};

}  // namespace agenttx::node
