// Owns bytes that end where a forbidden page begins: reading one byte too far ends the process.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <string_view>

namespace agenttx::torture {

class GuardedBytes {
 public:
  explicit GuardedBytes(size_t bytes_max) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    size_ = (bytes_max + page_ - 1) / page_ * page_;
    void* const memory =
        mmap(nullptr, size_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no memory");
    memory_ = static_cast<char*>(memory);
    if (mprotect(memory_ + size_, page_, PROT_NONE) != 0) throw std::runtime_error("no guard");
  }
  ~GuardedBytes() { munmap(memory_, size_ + page_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  // A copy of `bytes` directly in front of the forbidden page.
  std::string_view Place(std::string_view bytes) {
    if (bytes.size() > size_) throw std::runtime_error("too long for the guard");
    char* const at = memory_ + size_ - bytes.size();
    std::memcpy(at, bytes.data(), bytes.size());
    return {at, bytes.size()};
  }

 private:
  const size_t page_;
  size_t size_ = 0;
  char* memory_ = nullptr;
};

}  // namespace agenttx::torture
