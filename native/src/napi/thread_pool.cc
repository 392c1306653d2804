// Owns threads for work off the JavaScript thread; see thread_pool.h.
#include "thread_pool.h"

#ifdef __linux__
#include <pthread.h>
#endif

#include <system_error>
#include <utility>

namespace agenttx::node {

void ThreadPool::Run(std::function<void()> job) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_) return;
    queue_.push_back(std::move(job));
    try {
      StartThreadIfNeeded();
    } catch (const std::system_error&) {
      // One thread is enough to make progress; without any, the caller has to hear it.
      if (threads_.empty()) {
        queue_.pop_back();
        throw;
      }
    }
  }
  // After the lock: the thread that wakes would only wait for it.
  changed_.notify_one();
}

void ThreadPool::StartThreadIfNeeded() {
  if (queue_.size() <= idle_ || threads_.size() >= threads_max_) return;
  threads_.emplace_back([this] { Loop(); });
}

void ThreadPool::Stop() {
  std::deque<std::function<void()>> dropped;
  std::vector<std::thread> threads;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
    threads.swap(threads_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void ThreadPool::Loop() {
#ifdef __linux__
  pthread_setname_np(pthread_self(), name_);
#endif
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    --idle_;
    if (stopping_) return;
    std::function<void()> job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

}  // namespace agenttx::node
