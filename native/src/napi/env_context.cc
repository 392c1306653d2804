// Owns what one environment has of this addon; see env_context.h.
#include "env_context.h"

#include <cstdlib>
#include <mutex>
#include <utility>

#include "status_to_error.h"

namespace agenttx::node {

namespace {

// Environments that are alive. Never destroyed: exit handlers and other threads may still look.
struct LiveContexts {
  std::mutex mutex;
  std::set<EnvContext*> contexts;
};

LiveContexts& Live() {
  static LiveContexts* const live = new LiveContexts();
  return *live;
}

// process.exit() ends the process without the clean-up hooks of the main thread. Threads have to
// be gone before static objects are destroyed, so the same shutdown runs as an exit handler.
void ShutdownAllAtExit() {
  std::set<EnvContext*> contexts;
  {
    std::lock_guard<std::mutex> lock(Live().mutex);
    contexts.swap(Live().contexts);
  }
  for (EnvContext* context : contexts) context->Shutdown();
}

// Registered after the first open, when the database's own static objects exist: handlers run in
// reverse order, so ours then runs before theirs.
void RegisterExitHandlerOnce() {
  static std::once_flag once;
  std::call_once(once, [] { std::atexit(ShutdownAllAtExit); });
}

}  // namespace

void EnvContext::Install(Napi::Env env) {
  auto* context = new EnvContext();
  env.SetInstanceData<EnvContext>(context);
  context->completions_ = Completions::Create(env);
  if (context->completions_ == nullptr) {
    throw Refusal(Status(Code::kInternal, "Node refused a thread-safe function."));
  }
  {
    std::lock_guard<std::mutex> lock(Live().mutex);
    Live().contexts.insert(context);
  }
  // Hooks run newest first: ours before the one that ends the thread-safe function.
  napi_add_env_cleanup_hook(
      env,
      [](void* data) {
        auto* const ending = static_cast<EnvContext*>(data);
        ending->Shutdown();
        // Node frees nothing of a reference by itself: each worker would leave its two behind.
        ending->store_class.Reset();
        ending->transaction_class.Reset();
      },
      context);
}

EnvContext& EnvContext::From(napi_env env) {
  void* data = nullptr;
  if (napi_get_instance_data(env, &data) != napi_ok || data == nullptr) {
    throw Refusal(Status(Code::kStoreClosed, "This thread is ending; nothing was done."));
  }
  return *static_cast<EnvContext*>(data);
}

EnvContext::~EnvContext() {
  Shutdown();
  // The environment is gone: its references are gone with it.
  store_class.SuppressDestruct();
  transaction_class.SuppressDestruct();
}

void EnvContext::Opened(std::shared_ptr<Store> store) {
  open_stores_.insert(std::move(store));
  RegisterExitHandlerOnce();
}

void EnvContext::Closed(const std::shared_ptr<Store>& store) { open_stores_.erase(store); }

void EnvContext::Shutdown() noexcept {
  {
    std::lock_guard<std::mutex> lock(Live().mutex);
    Live().contexts.erase(this);
  }
  if (shut_down_) return;
  shut_down_ = true;
  if (completions_) completions_->Close();
  computing_.Stop();
  waiting_.Stop();
  for (const std::shared_ptr<Store>& store : open_stores_) {
    // Nobody is left to hear a failure; whatever was acknowledged is in the log already.
    (void)store->Close();
  }
  open_stores_.clear();
}

}  // namespace agenttx::node
