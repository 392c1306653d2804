// Owns the translation of a core Status into an error; see status_to_error.h.
#include "status_to_error.h"

#include "packing.h"

namespace agenttx::node {

const char* CodeName(Code code) {
  switch (code) {
    case Code::kOk:
      return "OK";
    case Code::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case Code::kInvalidKey:
      return "INVALID_KEY";
    case Code::kPayloadTooLarge:
      return "PAYLOAD_TOO_LARGE";
    case Code::kNotFound:
      return "NOT_FOUND";
    case Code::kSnapshotNotFound:
      return "SNAPSHOT_NOT_FOUND";
    case Code::kTransactionExists:
      return "TRANSACTION_EXISTS";
    case Code::kTransactionEnded:
      return "TRANSACTION_ENDED";
    case Code::kStaleOwner:
      return "STALE_OWNER";
    case Code::kStaleAttempt:
      return "STALE_ATTEMPT";
    case Code::kStepOutOfOrder:
      return "STEP_OUT_OF_ORDER";
    case Code::kWriteConflict:
      return "WRITE_CONFLICT";
    case Code::kOutcomeUnknown:
      return "OUTCOME_UNKNOWN";
    case Code::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case Code::kStoreLocked:
      return "STORE_LOCKED";
    case Code::kStoreClosed:
      return "STORE_CLOSED";
    case Code::kStorePoisoned:
      return "STORE_POISONED";
    case Code::kStoreCorrupt:
      return "STORE_CORRUPT";
    case Code::kStoreBehindAnchor:
      return "STORE_BEHIND_ANCHOR";
    case Code::kFormatTooNew:
      return "FORMAT_TOO_NEW";
    case Code::kScanNotSerializable:
      return "SCAN_NOT_SERIALIZABLE";
    case Code::kInternal:
      return "INTERNAL";
  }
  return "INTERNAL";
}

std::vector<const char*> CodeNames() {
  std::vector<const char*> names;
  for (int code = 1; code <= static_cast<int>(Code::kInternal); ++code) {
    names.push_back(CodeName(static_cast<Code>(code)));
  }
  return names;
}

napi_value MakeError(napi_env env, const Status& status,
                     const std::vector<std::string>& conflict_keys) noexcept {
  napi_value code = nullptr;
  napi_value message = nullptr;
  napi_value error = nullptr;
  const std::string& text = status.message();
  if (napi_create_string_utf8(env, CodeName(status.code()), NAPI_AUTO_LENGTH, &code) != napi_ok ||
      napi_create_string_utf8(env, text.data(), text.size(), &message) != napi_ok ||
      napi_create_error(env, code, message, &error) != napi_ok) {
    return nullptr;
  }
  if (!conflict_keys.empty()) {
    try {
      napi_value keys = MakeBytes(env, PackKeys(conflict_keys));
      napi_set_named_property(env, error, "conflictKeys", keys);
    } catch (...) {
      // Without memory for the list the code alone still tells the truth.
    }
  }
  return error;
}

void ThrowStatus(napi_env env, const Status& status) noexcept {
  napi_value error = MakeError(env, status);
  if (error != nullptr) napi_throw(env, error);
}

}  // namespace agenttx::node
