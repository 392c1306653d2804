// Owns the path of every write; see writer.h.
#include "writer.h"

#include <algorithm>
#include <exception>
#include <new>
#include <unordered_set>

#include "bytes.h"
#include "database.h"

namespace agenttx {
namespace {

constexpr size_t kGroupMax = 1024;
constexpr size_t kGroupBytesMax = 32u << 20;
// After a group of several, the others of it are likely to come back at once: waiting for them a
// fraction of the time that a sync takes doubles the group. A lone writer never waits.
constexpr std::chrono::nanoseconds kLingerMax = std::chrono::microseconds(500);

Status StoreStalls() {
  return {Code::kResourceExhausted,
          "The storage is behind with its background work; nothing was written. Repeat the call."};
}

// No exception leaves it: memory may run out while a large batch is built.
template <typename Preparation>
Status Guarded(const Preparation& prepare) {
  try {
    return prepare();
  } catch (const std::bad_alloc&) {
    return {Code::kResourceExhausted, "Memory ran out; nothing was written."};
  } catch (const std::exception& error) {
    return {Code::kInternal,
            std::string("The change failed: ") + error.what() + ". Nothing was written."};
  }
}

}  // namespace

Writer::Writer(Database* db, bool sync_writes) : db_(db), sync_writes_(sync_writes) {
  if (sync_writes_) thread_ = std::thread([this] { Loop(); });
}

Writer::~Writer() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(queue_mutex_);
    is_stopping_ = true;
  }
  queue_changed_.notify_all();
  thread_.join();
}

Status Writer::Run(Work* work) {
  if (!sync_writes_) return RunInline(work);
  auto item = std::make_shared<Queued>();
  item->work = work;
  Status status = Enqueue(item);
  if (!status.ok()) return status;
  std::unique_lock<std::mutex> lock(queue_mutex_);
  finished_.wait(lock, [&] { return item->is_finished; });
  return std::move(item->status);
}

Status Writer::Submit(std::unique_ptr<Work> work, Done done) {
  if (!sync_writes_) return RunInline(work.get());
  auto item = std::make_shared<Queued>();
  item->work = work.get();
  item->owned = std::move(work);
  item->done = std::move(done);
  return Enqueue(std::move(item));
}

Status Writer::RunInline(Work* work) {
  Group group(db_);
  std::unique_lock<std::mutex> tx_lock;
  std::unique_lock<std::mutex> other_lock;
  if (work->tx != nullptr) tx_lock = {work->tx->mutex, std::defer_lock};
  if (work->other != nullptr) other_lock = {work->other->mutex, std::defer_lock};
  if (work->other != nullptr) {
    std::lock(tx_lock, other_lock);
  } else if (work->tx != nullptr) {
    tx_lock.lock();
  }
  std::unique_lock<std::mutex> publish_lock(db_->publish_mutex, std::defer_lock);
  if (work->publishes) {
    publish_lock.lock();
    group.commit_version = db_->commit_version;
    group.store_audit = db_->store_audit;
  }
  Status status = db_->poison.Check();
  if (status.ok()) status = Guarded([&] { return work->Prepare(&group); });
  if (status.ok()) status = Guarded([&] { return Seal(&group); });
  return status.ok() ? Conclude(&group, work) : status;
}

Status Writer::Conclude(Group* group, Work* work) noexcept {
  Status status = Commit(group, false, work->no_slowdown);
  if (status.code() == Code::kStorePoisoned) return {work->write_failure, status.message()};
  if (!status.ok()) return status;
  if (work->outcome.ok()) work->Install();
  return std::move(work->outcome);
}

// The last that is added to a group: the store's state, and the anchor that is written behind it.
Status Writer::Seal(Group* group) {
  if (!group->state_changed) return Status::Ok();
  group->anchor = db_->NextAnchor(group->commit_version, group->store_audit);
  std::string state;
  AppendU64(&state, group->commit_version);
  state.append(EncodeChainHead(group->store_audit));
  return FromRocks(group->batch.Put(db_->handle(kDefault), ToSlice(kStateKey), state));
}

// Writes the group and then the anchor.
Status Writer::Commit(Group* group, bool sync, bool no_slowdown) noexcept {
  Status status = Write(group, sync, no_slowdown);
  if (!status.ok() || !group->state_changed) return status;
  status = db_->WriteAnchor(group->anchor, sync);
  if (!status.ok()) {
    db_->poison.Set(status.message());
    return db_->poison.Check();
  }
  db_->store_audit = group->store_audit;
  db_->commit_version.store(group->commit_version, std::memory_order_release);
  return status;
}

Status Writer::Write(Group* group, bool sync, bool no_slowdown) {
  if (group->batch.Count() == 0) return Status::Ok();
  rocksdb::WriteOptions options;
  options.sync = sync;
  options.no_slowdown = no_slowdown;
  const rocksdb::Status status = db_->rocks()->Write(options, &group->batch);
  batch_count_.fetch_add(1, std::memory_order_relaxed);
  if (sync) sync_count_.fetch_add(1, std::memory_order_relaxed);
  if (status.ok()) return Status::Ok();
  if (status.IsIncomplete() && no_slowdown) return StoreStalls();
  db_->poison.Set(status.ToString());
  return db_->poison.Check();
}

Status Writer::Enqueue(std::shared_ptr<Queued> item) {
  Status status = db_->poison.Check();
  if (!status.ok()) return status;
  {
    std::lock_guard<std::mutex> lock(queue_mutex_);
    if (is_stopping_) return {Code::kStoreClosed, "The store is closing; nothing was written."};
    queue_.push_back(std::move(item));
    // While the writer lingers it is woken by the last one it waits for, not by each.
    if (queue_.size() != 1 && queue_.size() < last_group_size_) return status;
  }
  queue_changed_.notify_one();
  return status;
}

void Writer::Drain() {
  std::unique_lock<std::mutex> lock(queue_mutex_);
  finished_.wait(lock, [&] { return queue_.empty() && in_flight_ == 0; });
}

Writer::Items Writer::TakeGroup() {
  std::unique_lock<std::mutex> lock(queue_mutex_);
  queue_changed_.wait(lock, [&] { return !queue_.empty() || is_stopping_; });
  if (last_group_size_ > 1 && !is_stopping_) {
    const auto linger = std::min(kLingerMax, last_write_time_ / 2);
    queue_changed_.wait_for(lock, linger,
                            [&] { return queue_.size() >= last_group_size_ || is_stopping_; });
  }
  Items items;
  const size_t count = std::min(queue_.size(), kGroupMax);
  items.assign(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count));
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count));
  in_flight_ = count;
  return items;
}

void Writer::Loop() noexcept {
  for (;;) {
    Items items = TakeGroup();
    if (items.empty()) return;  // stopping and nothing left
    size_t done_count = 0;
    {
      // Not the gate: a caller that waits for this group is inside of it.
      std::lock_guard<std::mutex> lock(db_->group_mutex);
      done_count = RunGroup(items);
    }
    Finish(items, done_count);
  }
}

// The one exception to B1: the publish mutex first, then the tx->mutex of a whole group in any
// order. It is safe because on a store with synced writes this thread alone holds two of them at a
// time. Prepares as many items as fit, writes them and installs them. Returns how many were
// handled.
size_t Writer::RunGroup(const Items& items) {
  Group group(db_);
  group.keeps_published = items.size() > 1;
  std::vector<std::unique_lock<std::mutex>> tx_locks;
  tx_locks.reserve(items.size());
  std::unordered_set<const Transaction*> taken;
  std::lock_guard<std::mutex> publish_lock(db_->publish_mutex);
  group.commit_version = db_->commit_version;
  group.store_audit = db_->store_audit;
  std::vector<Queued*> prepared;
  size_t count = 0;
  Status unusable = db_->CheckOpen();
  if (unusable.ok()) unusable = db_->poison.Check();
  for (; count < items.size() && group.batch.GetDataSize() < kGroupBytesMax; count++) {
    Queued* item = items[count].get();
    Transaction* const both[] = {item->work->tx.get(), item->work->other.get()};
    if (taken.count(both[0]) + taken.count(both[1]) > 0) break;  // G1
    for (Transaction* tx : both) {
      if (tx == nullptr) continue;
      tx_locks.emplace_back(tx->mutex);
      taken.insert(tx);
    }
    const uint64_t version_before = group.commit_version;
    const ChainHead audit_before = group.store_audit;
    const bool changed_before = group.state_changed;
    group.batch.SetSavePoint();
    item->status = unusable.ok() ? Guarded([&] { return item->work->Prepare(&group); }) : unusable;
    if (item->status.ok()) {
      group.batch.PopSavePoint().PermitUncheckedError();
      prepared.push_back(item);
      continue;
    }
    group.batch.RollbackToSavePoint().PermitUncheckedError();
    group.commit_version = version_before;
    group.store_audit = audit_before;
    group.state_changed = changed_before;
  }
  const auto started = std::chrono::steady_clock::now();
  const Status sealed = Guarded([&] { return Seal(&group); });
  const Status written = sealed.ok() ? Commit(&group, true, false) : Status::Ok();
  last_write_time_ = std::chrono::steady_clock::now() - started;
  for (Queued* item : prepared) {
    if (!sealed.ok()) {
      item->status = sealed;
    } else if (!written.ok()) {
      item->status = {item->work->write_failure, written.message()};
    } else {
      if (item->work->outcome.ok()) item->work->Install();
      item->status = item->work->outcome;
    }
  }
  return count;
}

// Completes the first `count` items and puts the others back where they were.
void Writer::Finish(const Items& items, size_t count) {
  {
    std::lock_guard<std::mutex> lock(queue_mutex_);
    for (size_t i = items.size(); i > count; i--) queue_.push_front(items[i - 1]);
    for (size_t i = 0; i < count; i++) items[i]->is_finished = true;
    last_group_size_ = count;
  }
  for (size_t i = 0; i < count; i++) {
    if (items[i]->done) items[i]->done(std::move(items[i]->status));
  }
  {
    std::lock_guard<std::mutex> lock(queue_mutex_);
    in_flight_ = 0;
  }
  finished_.notify_all();
}

}  // namespace agenttx
