// Owns what the core's tests are written with: TEST, checks that stop a test, folders that go away.
#pragma once

#include <cstdint>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>

#include "agenttx/store.h"

namespace agenttx::test {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thrown by a test that cannot run here.
class Skipped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// How much slower instrumented code may be.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr int kSlowdown = 20;
#else
inline constexpr int kSlowdown = 1;
#endif

// A child of a process with threads is something that ThreadSanitizer cannot follow.
inline void NeedsFork() {
#ifdef __SANITIZE_THREAD__
  throw Skipped("it forks");
#endif
}

bool Register(const char* name, void (*body)());

// A folder that is removed with its content.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// The seed of a random test, printed when it fails; AGENTTX_SEED repeats a run.
uint64_t Seed();

template <typename A, typename B>
void CheckEqual(const A& actual, const B& expected, const char* text, const char* file, int line) {
  if (actual == expected) return;
  std::ostringstream out;
  out << file << ":" << line << ": " << text << " is " << actual << ", expected " << expected;
  throw Failure(out.str());
}

void CheckTrue(bool holds, const char* text, const char* file, int line);
void CheckStatus(const Status& status, Code expected, const char* text, const char* file, int line);
const char* NameOf(Code code);

}  // namespace agenttx::test

// A test is a claim: its name says what holds.
#define TEST(name)                                                                                \
  static void name();                                                                             \
  [[maybe_unused]] static const bool name##_registered = ::agenttx::test::Register(#name, &name); \
  static void name()

#define CHECK(condition) ::agenttx::test::CheckTrue((condition), #condition, __FILE__, __LINE__)
#define CHECK_EQ(actual, expected) \
  ::agenttx::test::CheckEqual((actual), (expected), #actual, __FILE__, __LINE__)
#define CHECK_OK(status) \
  ::agenttx::test::CheckStatus((status), ::agenttx::Code::kOk, #status, __FILE__, __LINE__)
#define CHECK_CODE(status, expected) \
  ::agenttx::test::CheckStatus((status), ::agenttx::Code::expected, #status, __FILE__, __LINE__)
