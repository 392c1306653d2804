// Owns the way back to the JavaScript thread; see completions.h.
#include "completions.h"

#include <utility>

namespace agenttx::node {

namespace {

// Lists can be long: unlinked one by one, so that no destructor recurses.
void DropAll(std::shared_ptr<Completion> first,
             std::shared_ptr<Completion> (*next)(Completion&)) noexcept {
  while (first) first = next(*first);
}

}  // namespace

std::shared_ptr<Completions> Completions::Create(napi_env env) {
  std::shared_ptr<Completions> self(new Completions());
  self->env_ = env;
  napi_value name;
  if (napi_create_string_utf8(env, "agenttx", NAPI_AUTO_LENGTH, &name) != napi_ok) return nullptr;
  // Node finalizes the function after our own clean-up hook; the context has to live until then,
  // and not longer: what Node still calls after the finalizer does not look at it (OnWake).
  auto* context = new std::shared_ptr<Completions>(self);
  napi_status status = napi_create_threadsafe_function(
      env, nullptr, nullptr, name, 0, 1, context,
      [](napi_env, void* data, void*) { delete static_cast<std::shared_ptr<Completions>*>(data); },
      context, OnWake, &self->wake_);
  if (status != napi_ok) {
    delete context;
    return nullptr;
  }
  napi_unref_threadsafe_function(env, self->wake_);
  return self;
}

Completions::~Completions() { Close(); }

void Completions::Hold() {
  if (held_++ == 0) napi_ref_threadsafe_function(env_, wake_);
}

void Completions::Release() {
  if (--held_ == 0) napi_unref_threadsafe_function(env_, wake_);
}

void Completions::Post(std::shared_ptr<Completion> completion) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  Completion* posted = completion.get();
  if (last_ == nullptr) {
    first_ = std::move(completion);
  } else {
    last_->next_ = std::move(completion);
  }
  last_ = posted;
  if (waking_) return;
  waking_ = napi_call_threadsafe_function(wake_, nullptr, napi_tsfn_nonblocking) == napi_ok;
}

std::shared_ptr<Completion> Completions::TakeAll() noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  waking_ = false;
  last_ = nullptr;
  return std::move(first_);
}

void Completions::OnWake(napi_env env, napi_value, void* context, void*) {
  // A wake-up that the environment's end overtook comes without one, and after the function's
  // finalizer: the context is gone. Shutdown() has dropped what was posted.
  if (env == nullptr) return;
  std::shared_ptr<Completions> self = *static_cast<std::shared_ptr<Completions>*>(context);
  self->Drain(env);
}

void Completions::Drain(napi_env env) noexcept {
  std::shared_ptr<Completion> current = TakeAll();
  while (current) {
    napi_handle_scope scope = nullptr;
    napi_open_handle_scope(env, &scope);
    current->Settle(env);
    if (scope != nullptr) napi_close_handle_scope(env, scope);
    current = std::move(current->next_);
    Release();
  }
}

void Completions::Close() noexcept {
  std::shared_ptr<Completion> dropped;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    last_ = nullptr;
    dropped = std::move(first_);
  }
  DropAll(std::move(dropped), [](Completion& completion) { return std::move(completion.next_); });
}

}  // namespace agenttx::node
