// Owns how integers become bytes. On disk everything is big-endian, so that byte order is numeric
// order; batches from JavaScript are little-endian (agenttx/batch_format.h). ByteReader never reads
// past its end: after the first short read it stays failed.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace agenttx {

inline void StoreU32(char* at, uint32_t value) {
  value = __builtin_bswap32(value);
  std::memcpy(at, &value, sizeof value);
}

inline void StoreU64(char* at, uint64_t value) {
  value = __builtin_bswap64(value);
  std::memcpy(at, &value, sizeof value);
}

inline uint32_t LoadU32(const char* at) {
  uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap32(value);
}

inline uint64_t LoadU64(const char* at) {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap64(value);
}

inline void AppendU8(std::string* out, uint8_t value) { out->push_back(static_cast<char>(value)); }

inline void AppendU32(std::string* out, uint32_t value) {
  char bytes[4];
  StoreU32(bytes, value);
  out->append(bytes, sizeof bytes);
}

inline void AppendU64(std::string* out, uint64_t value) {
  char bytes[8];
  StoreU64(bytes, value);
  out->append(bytes, sizeof bytes);
}

inline void AppendSized(std::string* out, std::string_view bytes) {
  AppendU32(out, static_cast<uint32_t>(bytes.size()));
  out->append(bytes);
}

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  std::string_view Take(size_t count) {
    if (failed_ || count > rest_.size()) {
      failed_ = true;
      return {};
    }
    std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  uint8_t U8() {
    std::string_view bytes = Take(1);
    return failed_ ? 0 : static_cast<uint8_t>(bytes[0]);
  }
  uint16_t U16() {
    const uint16_t high = U8();
    return static_cast<uint16_t>(high << 8 | U8());
  }
  uint32_t U32() {
    std::string_view bytes = Take(4);
    return failed_ ? 0 : LoadU32(bytes.data());
  }
  uint64_t U64() {
    std::string_view bytes = Take(8);
    return failed_ ? 0 : LoadU64(bytes.data());
  }
  std::string_view Sized() { return Take(U32()); }

  // Little-endian forms, for batches only.
  uint32_t U32Little() { return __builtin_bswap32(U32()); }
  uint64_t U64Little() { return __builtin_bswap64(U64()); }
  std::string_view SizedLittle() { return Take(U32Little()); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace agenttx
