// Owns the hash chains of the audit journal (C9). An entry holds the digest of its payload and a
// hash over the entry before it; the payload itself is not hashed into the chain, so that it can
// be erased and the chain still verifies.
//   hash(n)  = SHA-256(hash(n-1) seq:u64 digest(n))      hash(0) = SHA-256(identity of the chain)
//   entry    = digest:32 hash:32 payload
// A1 Entries of a chain are numbered from 1 without gaps. A2 The identity is part of the first
// hash, so an entry of one chain cannot stand in another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sha256.h"

namespace agenttx {

struct ChainHead {
  uint64_t seq = 0;  // of the newest entry
  Digest hash{};
};

// Head of an empty chain. `identity`: the encoded transaction name, or kStoreChainIdentity.
ChainHead EmptyChain(std::string_view identity);
inline constexpr std::string_view kStoreChainIdentity = "store";

// Appends `payload`: moves `head` on and returns the entry's bytes.
std::string AppendToChain(ChainHead* head, std::string_view payload);

struct ChainEntry {
  Digest digest;
  Digest hash;
  std::string_view payload;
};
bool DecodeChainEntry(std::string_view bytes, ChainEntry* out);

// seq:u64 hash:32
std::string EncodeChainHead(const ChainHead& head);
bool DecodeChainHead(std::string_view bytes, ChainHead* out);

}  // namespace agenttx
