// Owns where RocksDB's own messages go; see info_logger.h.
#include "info_logger.h"

#include <cstdarg>
#include <cstdio>

namespace agenttx {
namespace {
constexpr size_t kLinesMax = 32;
}

void InfoLogger::Logv(const char* format, va_list arguments) {
  char line[512];
  vsnprintf(line, sizeof line, format, arguments);
  std::lock_guard<std::mutex> lock(mutex_);
  lines_.emplace_back(line);
  if (lines_.size() > kLinesMax) lines_.pop_front();
}

std::vector<std::string> InfoLogger::Warnings() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return {lines_.begin(), lines_.end()};
}

}  // namespace agenttx
