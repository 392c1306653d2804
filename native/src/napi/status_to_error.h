// Owns the one translation of a core Status into a JavaScript error: `code` is a code of
// packages/model/src/errors.ts, `message` the core's sentence. A lost commit also carries
// `conflictKeys`: packed keys (packing.h).
#pragma once

#include <string>
#include <vector>

#include "agenttx/status.h"
#include "node.h"

namespace agenttx::node {

// Stops a call before anything happened. Caught by Guard, never seen by Node.
class Refusal {
 public:
  explicit Refusal(Status status) : status_(std::move(status)) {}
  const Status& status() const { return status_; }

 private:
  Status status_;
};

const char* CodeName(Code code);
// Every code but kOk, in the order of the enum.
std::vector<const char*> CodeNames();

// Null when the environment can no longer make values.
napi_value MakeError(napi_env env, const Status& status,
                     const std::vector<std::string>& conflict_keys = {}) noexcept;
void ThrowStatus(napi_env env, const Status& status) noexcept;

}  // namespace agenttx::node
