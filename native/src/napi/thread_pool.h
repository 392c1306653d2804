// Owns threads for work that must not run on the JavaScript thread. They are ours and not libuv's,
// so that long commits never hold up `fs` and `dns`. Threads start when there is work for them.
//
// INVARIANT: after Stop() no job runs; jobs that had not begun are dropped, never half run.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace agenttx::node {

class ThreadPool {
 public:
  // `name` has at most 15 characters and lives for ever.
  ThreadPool(const char* name, size_t threads_max) : name_(name), threads_max_(threads_max) {}
  ~ThreadPool() { Stop(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Throws std::system_error when not even one thread can be made. `job` must not throw.
  void Run(std::function<void()> job);
  // Waits for running jobs. Idempotent.
  void Stop();

 private:
  void StartThreadIfNeeded();
  void Loop();

  const char* const name_;
  const size_t threads_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;  // guarded by mutex_
  std::vector<std::thread> threads_;         // guarded by mutex_
  size_t idle_ = 0;                          // guarded by mutex_
  bool stopping_ = false;                    // guarded by mutex_
};

}  // namespace agenttx::node
