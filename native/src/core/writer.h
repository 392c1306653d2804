// Owns the path of every write. Inline without sync_writes. With it, one thread drains a queue and
// merges what it finds into one batch with one fsync (group commit), then completes all.
// G1 Works are prepared in queue order; of one transaction at most one is in a group, since a
// second
//    would not see the first in the database.
// G2 Nobody hears of a change before it is written (and synced), and before the anchor is (N2).
// G3 Once a write has begun nothing is thrown: an exception tells the caller that nothing was
//    written. Out of memory there ends the process (W2), and so it does in the writer thread's own
//    lists, which have no caller to tell.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "agenttx/store.h"
#include "work.h"

namespace agenttx {

class Writer {
 public:
  Writer(Database* db, bool sync_writes);
  ~Writer();

  // Returns when the work is done.
  Status Run(Work* work);
  // Without sync_writes the work is done when this returns, and `done` is not called. With it, OK
  // means queued: `done` is called once from the writer thread; an error means that it never is.
  Status Submit(std::unique_ptr<Work> work, Done done);
  // Waits until nothing is queued or in flight.
  void Drain();
  uint64_t sync_count() const { return sync_count_.load(std::memory_order_relaxed); }
  uint64_t batch_count() const { return batch_count_.load(std::memory_order_relaxed); }

 private:
  struct Queued {
    Work* work = nullptr;
    std::unique_ptr<Work> owned;
    Done done;
    bool is_finished = false;
    Status status;
  };
  using Items = std::vector<std::shared_ptr<Queued>>;

  Status RunInline(Work* work);
  Status Write(Group* group, bool sync, bool no_slowdown);
  Status Seal(Group* group);
  Status Commit(Group* group, bool sync, bool no_slowdown) noexcept;
  Status Conclude(Group* group, Work* work) noexcept;
  Status Enqueue(std::shared_ptr<Queued> item);
  void Loop() noexcept;
  Items TakeGroup();
  size_t RunGroup(const Items& items);
  void Finish(const Items& items, size_t count);

  Database* const db_;
  const bool sync_writes_;
  std::atomic<uint64_t> sync_count_{0};
  std::atomic<uint64_t> batch_count_{0};

  std::mutex queue_mutex_;
  std::condition_variable queue_changed_;
  std::condition_variable finished_;
  std::deque<std::shared_ptr<Queued>> queue_;
  size_t in_flight_ = 0;
  size_t last_group_size_ = 1;
  std::chrono::nanoseconds last_write_time_{0};
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace agenttx
