// Owns the hash chains of the audit journal; see audit_chain.h.
#include "audit_chain.h"

#include <cstring>

#include "bytes.h"

namespace agenttx {

ChainHead EmptyChain(std::string_view identity) { return {0, HashOf(identity)}; }

std::string AppendToChain(ChainHead* head, std::string_view payload) {
  const Digest digest = HashOf(payload);
  char seq[8];
  StoreU64(seq, head->seq + 1);
  head->hash = Sha256()
                   .Update(AsBytes(head->hash))
                   .Update({seq, sizeof seq})
                   .Update(AsBytes(digest))
                   .Finish();
  head->seq++;
  std::string entry;
  entry.reserve(64 + payload.size());
  return entry.append(AsBytes(digest)).append(AsBytes(head->hash)).append(payload);
}

bool DecodeChainEntry(std::string_view bytes, ChainEntry* out) {
  if (bytes.size() < 64) return false;
  std::memcpy(out->digest.data(), bytes.data(), 32);
  std::memcpy(out->hash.data(), bytes.data() + 32, 32);
  out->payload = bytes.substr(64);
  return true;
}

std::string EncodeChainHead(const ChainHead& head) {
  std::string bytes;
  AppendU64(&bytes, head.seq);
  return bytes.append(AsBytes(head.hash));
}

bool DecodeChainHead(std::string_view bytes, ChainHead* out) {
  if (bytes.size() != 40) return false;
  out->seq = LoadU64(bytes.data());
  std::memcpy(out->hash.data(), bytes.data() + 8, 32);
  return true;
}

}  // namespace agenttx
