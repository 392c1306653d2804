// Owns the names of codes, for messages of tests.
#include "test_case.h"

namespace agenttx::test {

const char* NameOf(Code code) {
  static const char* const names[] = {"Ok",
                                      "InvalidArgument",
                                      "InvalidKey",
                                      "PayloadTooLarge",
                                      "NotFound",
                                      "SnapshotNotFound",
                                      "TransactionExists",
                                      "TransactionEnded",
                                      "StaleOwner",
                                      "StaleAttempt",
                                      "StepOutOfOrder",
                                      "WriteConflict",
                                      "OutcomeUnknown",
                                      "ResourceExhausted",
                                      "StoreLocked",
                                      "StoreClosed",
                                      "StorePoisoned",
                                      "StoreCorrupt",
                                      "StoreBehindAnchor",
                                      "FormatTooNew",
                                      "ScanNotSerializable",
                                      "Internal"};
  return names[static_cast<uint8_t>(code)];
}

}  // namespace agenttx::test
