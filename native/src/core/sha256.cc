// Owns SHA-256; see sha256.h.
#include "sha256.h"

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace agenttx {
namespace {

using Compress = void (*)(uint32_t* state, const uint8_t* blocks, size_t block_count);

constexpr std::array<uint32_t, 8> kInitial = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                              0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

alignas(16) constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t Rotate(uint32_t value, int bits) { return value >> bits | value << (32 - bits); }

uint32_t LoadBig(const uint8_t* at) {
  uint32_t value;
  std::memcpy(&value, at, 4);
  return __builtin_bswap32(value);
}

void CompressPortable(uint32_t* state, const uint8_t* blocks, size_t block_count) {
  for (; block_count > 0; block_count--, blocks += 64) {
    uint32_t w[64];
    for (int i = 0; i < 16; i++) w[i] = LoadBig(blocks + 4 * i);
    for (int i = 16; i < 64; i++) {
      const uint32_t s0 = Rotate(w[i - 15], 7) ^ Rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
      const uint32_t s1 = Rotate(w[i - 2], 17) ^ Rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i++) {
      const uint32_t s1 = Rotate(e, 6) ^ Rotate(e, 11) ^ Rotate(e, 25);
      const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
      const uint32_t s0 = Rotate(a, 2) ^ Rotate(a, 13) ^ Rotate(a, 22);
      const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
  }
}

#if defined(__x86_64__)

// Four rounds per step; the message schedule is kept in four registers that rotate.
__attribute__((target("sha,sse4.1,ssse3"))) void CompressShaNi(uint32_t* state,
                                                               const uint8_t* blocks,
                                                               size_t block_count) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bll, 0x0405060700010203ll);
  const auto* words = reinterpret_cast<const __m128i*>(state);
  // The instructions want the state as ABEF and CDGH.
  __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xB1);
  __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1B);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xF0);

  for (; block_count > 0; block_count--, blocks += 64) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; i++) {
      const auto* at = reinterpret_cast<const __m128i*>(blocks + 16 * i);
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(at), swap);
    }
    for (int i = 0; i < 16; i++) {
      if (i >= 4) {
        const __m128i last = w[3];
        __m128i next =
            _mm_add_epi32(_mm_sha256msg1_epu32(w[0], w[1]), _mm_alignr_epi8(last, w[2], 4));
        next = _mm_sha256msg2_epu32(next, last);
        w[0] = w[1], w[1] = w[2], w[2] = last, w[3] = next;
      }
      const auto* constants = reinterpret_cast<const __m128i*>(kRound + 4 * i);
      const __m128i message = _mm_add_epi32(i < 4 ? w[i] : w[3], _mm_load_si128(constants));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, message);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(message, 0x0E));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }

  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  auto* out = reinterpret_cast<__m128i*>(state);
  _mm_storeu_si128(out, _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(out + 1, _mm_alignr_epi8(dchg, feba, 8));
}

bool HasShaNi() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return false;
  const bool has_sha = (ebx & (1u << 29)) != 0;
  return has_sha && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("ssse3");
}

#endif

Compress ChooseCompress() {
#if defined(__x86_64__)
  if (HasShaNi()) return CompressShaNi;
#endif
  return CompressPortable;
}

Compress Chosen() {
  static const Compress chosen = ChooseCompress();
  return chosen;
}

Digest Encode(const std::array<uint32_t, 8>& state) {
  Digest digest;
  for (size_t i = 0; i < 8; i++) {
    const uint32_t word = __builtin_bswap32(state[i]);
    std::memcpy(digest.data() + 4 * i, &word, 4);
  }
  return digest;
}

Digest Finish(Compress compress, std::array<uint32_t, 8> state, const uint8_t* tail,
              uint64_t total_bytes) {
  uint8_t last[128] = {};
  const size_t tail_bytes = total_bytes % 64;
  std::memcpy(last, tail, tail_bytes);
  last[tail_bytes] = 0x80;
  const size_t block_count = tail_bytes < 56 ? 1 : 2;
  const uint64_t bits = __builtin_bswap64(total_bytes * 8);
  std::memcpy(last + 64 * block_count - 8, &bits, 8);
  compress(state.data(), last, block_count);
  return Encode(state);
}

}  // namespace

Sha256::Sha256() : state_(kInitial) {}

Sha256& Sha256::Update(std::string_view bytes) {
  if (bytes.empty()) return *this;
  const auto* at = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t rest = bytes.size();
  const size_t filled = total_bytes_ % 64;
  total_bytes_ += rest;
  if (filled > 0) {
    const size_t taken = rest < 64 - filled ? rest : 64 - filled;
    std::memcpy(block_.data() + filled, at, taken);
    at += taken, rest -= taken;
    if (filled + taken < 64) return *this;
    Chosen()(state_.data(), block_.data(), 1);
  }
  if (rest >= 64) Chosen()(state_.data(), at, rest / 64);
  std::memcpy(block_.data(), at + rest / 64 * 64, rest % 64);
  return *this;
}

Digest Sha256::Finish() { return agenttx::Finish(Chosen(), state_, block_.data(), total_bytes_); }

std::string_view Sha256Implementation() {
  return Chosen() == CompressPortable ? "portable" : "sha-ni";
}

Digest PortableHashOf(std::string_view bytes) {
  std::array<uint32_t, 8> state = kInitial;
  const auto* at = reinterpret_cast<const uint8_t*>(bytes.data());
  CompressPortable(state.data(), at, bytes.size() / 64);
  return Finish(CompressPortable, state, at + bytes.size() / 64 * 64, bytes.size());
}

}  // namespace agenttx
