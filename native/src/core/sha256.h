// Owns SHA-256 (FIPS 180-4). Uses the SHA instructions of the CPU when it has them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace agenttx {

using Digest = std::array<uint8_t, 32>;

class Sha256 {
 public:
  Sha256();
  Sha256& Update(std::string_view bytes);
  // The object must not be used afterwards.
  Digest Finish();

 private:
  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> block_;
  uint64_t total_bytes_ = 0;
};

inline Digest HashOf(std::string_view bytes) { return Sha256().Update(bytes).Finish(); }

inline std::string_view AsBytes(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// Name of the implementation in use, and the portable one by force, for tests.
std::string_view Sha256Implementation();
Digest PortableHashOf(std::string_view bytes);

}  // namespace agenttx
