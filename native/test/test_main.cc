// Runs the core's tests: all, or those whose name contains the first argument.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "test_case.h"

namespace agenttx::test {
namespace {

struct Case {
  const char* name;
  void (*body)();
};

std::vector<Case>& Cases() {
  static std::vector<Case> cases;
  return cases;
}

}  // namespace

bool Register(const char* name, void (*body)()) {
  Cases().push_back({name, body});
  return true;
}

TempFolder::TempFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "agenttx-test-XXXXXX";
  const char* made = mkdtemp(pattern.data());
  if (made == nullptr) throw Failure("cannot create a folder for the test");
  path_ = made;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

uint64_t Seed() {
  static const uint64_t seed = [] {
    const char* given = std::getenv("AGENTTX_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  }();
  return seed;
}

void CheckTrue(bool holds, const char* text, const char* file, int line) {
  if (holds) return;
  throw Failure(std::string(file) + ":" + std::to_string(line) + ": " + text + " does not hold");
}

void CheckStatus(const Status& status, Code expected, const char* text, const char* file,
                 int line) {
  if (status.code() == expected) return;
  throw Failure(std::string(file) + ":" + std::to_string(line) + ": " + text + " is " +
                NameOf(status.code()) + " (" + status.message() + "), expected " +
                NameOf(expected));
}

}  // namespace agenttx::test

int main(int argc, char** argv) {
  using namespace agenttx::test;
  const std::string filter = argc > 1 ? argv[1] : "";
  int passed = 0;
  int failed = 0;
  for (const Case& test : Cases()) {
    if (std::string(test.name).find(filter) == std::string::npos) continue;
    const auto started = std::chrono::steady_clock::now();
    std::string failure;
    try {
      test.body();
    } catch (const Skipped& reason) {
      std::printf("skip %s: %s\n", test.name, reason.what());
      continue;
    } catch (const std::exception& error) {
      failure = error.what();
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - started);
    if (failure.empty()) {
      passed++;
      std::printf("ok   %s (%lld ms)\n", test.name, static_cast<long long>(took.count()));
    } else {
      failed++;
      std::printf("FAIL %s: %s [AGENTTX_SEED=%llu]\n", test.name, failure.c_str(),
                  static_cast<unsigned long long>(Seed()));
    }
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
