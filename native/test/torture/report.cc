// Owns counters and violations; see report.h.
#include "report.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>
#include <sstream>
#include <stdexcept>

#include "child.h"

namespace agenttx::torture {
namespace {

constexpr size_t kTextsMax = 64;
constexpr size_t kTextBytes = 1000;
constexpr unsigned kCaseSecondsMax = 60;
constexpr int kDeathsMax = 20;

const char* const kCounterNames[] = {"cycles",   "fired",     "refused", "right",  "prefix",
                                     "noticed",  "unnoticed", "acts",    "images", "reopened",
                                     "complete", "pairs",     "decoded", "ended"};

std::string Escaped(const char* text) {
  std::string out;
  for (const char* at = text; *at != '\0'; at++) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += *at;
    } else if (byte < 0x20 || byte >= 0x7F) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", byte);
      out += code;
    } else {
      out += *at;
    }
  }
  return out;
}

}  // namespace

struct Shared {
  std::atomic<uint64_t> counters[kCounterCount];
  std::atomic<uint64_t> violations;
  std::atomic<uint64_t> cursor;
  char at[kTextBytes];
  char texts[kTextsMax][kTextBytes];
};

Report::Report() {
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
  shared_ = new (memory) Shared();
}

void Report::Add(Counter counter, uint64_t count) { shared_->counters[counter] += count; }
uint64_t Report::Get(Counter counter) const { return shared_->counters[counter]; }

void Report::Violation(const std::string& text) {
  const uint64_t index = shared_->violations++;
  if (index >= kTextsMax) return;
  std::strncpy(shared_->texts[index], text.c_str(), kTextBytes - 1);
  std::fprintf(stderr, "violation: %s\n", text.c_str());
}

uint64_t Report::violations() const { return shared_->violations; }

void Report::At(const std::string& text) {
  std::strncpy(shared_->at, text.c_str(), kTextBytes - 1);
  alarm(kCaseSecondsMax);
}

void Report::SetCursor(uint64_t cursor) { shared_->cursor = cursor; }
uint64_t Report::cursor() const { return shared_->cursor; }

std::string Report::Json(const std::string& suite, uint64_t seed, double seconds) const {
  std::ostringstream out;
  out << "{\"suite\":\"" << suite << "\",\"seed\":" << seed << ",\"seconds\":" << seconds;
  for (int i = 0; i < kCounterCount; i++) {
    out << ",\"" << kCounterNames[i] << "\":" << shared_->counters[i];
  }
  const uint64_t count = std::min<uint64_t>(shared_->violations, kTextsMax);
  out << ",\"violationCount\":" << shared_->violations << ",\"violations\":[";
  for (uint64_t i = 0; i < count; i++) {
    out << (i == 0 ? "\"" : ",\"") << Escaped(shared_->texts[i]) << '"';
  }
  out << "]}";
  return out.str();
}

void Report::InWorkers(const std::function<bool()>& work) {
  for (int deaths = 0; deaths < kDeathsMax; deaths++) {
    const int status = RunInChild(
        [&] { return work() ? 0 : 2; },
        [&](const std::string& what) { Violation(std::string(shared_->at) + ": " + what); });
    if (WIFEXITED(status) && !HasEndedWith(status, kHasThrown)) return;
    if (WIFSIGNALED(status)) {
      Violation(std::string(shared_->at) + ": the process died of signal " +
                std::to_string(WTERMSIG(status)));
    }
    shared_->cursor++;
  }
}

}  // namespace agenttx::torture
