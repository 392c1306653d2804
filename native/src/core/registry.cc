// Owns the databases that are open in this process; see registry.h.
#include "registry.h"

#include <exception>

namespace agenttx {

Registry& Registry::Process() {
  // Never destroyed: a thread may still hold a store while the process exits.
  static Registry* const registry = new Registry();
  return *registry;
}

Status Registry::Acquire(const StoreOptions& options, rocksdb::Env* env,
                         std::shared_ptr<Database>* out) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] {
    const auto found = slots_.find(options.path);
    return found == slots_.end() || !found->second.is_changing;
  });
  Slot& slot = slots_[options.path];
  if (slot.db != nullptr) {
    if (slot.db->options().sync_writes != options.sync_writes) {
      return {Code::kInvalidArgument,
              "This process has the store open with another syncWrites; nothing was opened."};
    }
    slot.users++;
    *out = slot.db;
    return Status::Ok();
  }
  slot.is_changing = true;
  lock.unlock();
  // An opening that throws must not leave others waiting for it.
  Status status;
  std::exception_ptr thrown;
  std::shared_ptr<Database> opened;
  try {
    status = Database::Open(options, env, &opened);
  } catch (...) {
    thrown = std::current_exception();
    opened.reset();
  }
  lock.lock();
  if (opened != nullptr) {
    slot = {opened, 1, false};
    *out = std::move(opened);
  } else {
    slots_.erase(options.path);
  }
  changed_.notify_all();
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return status;
}

void Registry::Release(const std::shared_ptr<Database>& db) noexcept {
  std::unique_lock<std::mutex> lock(mutex_);
  const std::string& path = db->options().path;
  const auto found = slots_.find(path);
  if (found == slots_.end() || found->second.db != db || --found->second.users > 0) return;
  found->second.is_changing = true;
  lock.unlock();
  db->Shutdown();
  lock.lock();
  slots_.erase(path);
  changed_.notify_all();
}

}  // namespace agenttx
