// Suite "fuzz": pairs of keys and mutated records, in rounds that a seed and a number repeat.
#include "fuzz.h"

#include "suites.h"

namespace agenttx::torture {
namespace {

constexpr int kCasesPerRound = 20'000;
constexpr size_t kRecordBytesMax = 1u << 16;

std::string Hex(const std::string& bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes.substr(0, 200)) {
    text += digits[static_cast<uint8_t>(byte) >> 4];
    text += digits[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

}  // namespace

// The cursor is the number of the round.
void RunFuzz(const Run& run) {
  run.report->InWorkers([&] {
    GuardedBytes guard(kRecordBytesMax);
    for (uint64_t round = run.report->cursor(); !run.is_over(); round++) {
      run.report->SetCursor(round);
      const std::string name =
          "seed " + std::to_string(run.seed) + ", round " + std::to_string(round);
      run.report->At(name);
      auto random = RandomOf(run.seed, round);
      const Complain complain = [&](const char* what, const std::string& bytes) {
        run.report->Violation(name + ": " + what + ": " + Hex(bytes));
      };
      for (int i = 0; i < kCasesPerRound; i++) {
        FuzzKeyPair(&random, complain);
        FuzzRecord(&random, &guard, complain);
      }
      run.report->Add(kPairs, kCasesPerRound);
      run.report->Add(kDecoded, kCasesPerRound);
      run.report->Add(kCycles, 2 * kCasesPerRound);
    }
    return true;
  });
}

}  // namespace agenttx::torture
