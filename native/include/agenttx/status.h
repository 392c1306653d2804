// Owns Status: how every core call says what happened. No exception crosses this boundary.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace agenttx {

// The names are the codes of packages/model/src/errors.ts; napi turns one into the other by one
// table. kOk is never an error.
enum class Code : uint8_t {
  kOk = 0,
  kInvalidArgument,
  kInvalidKey,
  kPayloadTooLarge,
  kNotFound,
  kSnapshotNotFound,
  kTransactionExists,
  kTransactionEnded,
  kStaleOwner,
  kStaleAttempt,
  kStepOutOfOrder,
  kWriteConflict,
  kOutcomeUnknown,
  kResourceExhausted,
  kStoreLocked,
  kStoreClosed,
  kStorePoisoned,
  kStoreCorrupt,
  kStoreBehindAnchor,
  kFormatTooNew,
  kScanNotSerializable,
  kInternal,
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status Ok() { return {}; }
  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

}  // namespace agenttx
