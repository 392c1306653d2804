// Owns the border: every call from JavaScript and every job of a thread runs inside one of these
// two, so that no C++ exception ever reaches Node or ends a thread.
#pragma once

#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "status_to_error.h"

namespace agenttx::node {

// REQUIRES: called inside a catch block.
inline Status CurrentExceptionAsStatus() noexcept {
  try {
    throw;
  } catch (const Refusal& refusal) {
    return refusal.status();
  } catch (const std::bad_alloc&) {
    return {Code::kResourceExhausted, "Out of memory; nothing was done."};
  } catch (const std::system_error& error) {
    return {Code::kResourceExhausted, error.what()};
  } catch (const std::exception& error) {
    return {Code::kInternal, error.what()};
  } catch (...) {
    return {Code::kInternal, "An exception of an unknown kind was stopped at the boundary."};
  }
}

// Runs one call from JavaScript: an exception becomes a thrown, coded error.
template <typename Call>
Napi::Value Guard(Napi::Env env, Call&& call) noexcept {
  try {
    return std::forward<Call>(call)();
  } catch (const Napi::Error& error) {
    napi_value value = error.Value();
    bool pending = false;
    if (napi_is_exception_pending(env, &pending) == napi_ok && !pending) napi_throw(env, value);
  } catch (...) {
    ThrowStatus(env, CurrentExceptionAsStatus());
  }
  return Napi::Value();
}

// Runs work off the JavaScript thread: an exception becomes a Status.
template <typename Work>
Status GuardStatus(Work&& work) noexcept {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    return CurrentExceptionAsStatus();
  }
}

}  // namespace agenttx::node
