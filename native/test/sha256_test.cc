// Goal: SHA-256 as in FIPS 180-4, the same from both implementations, for every split of the input.
#include "sha256.h"

#include "audit_chain.h"
#include "test_case.h"

using namespace agenttx;

namespace {

std::string Hex(const Digest& digest) {
  std::string text;
  for (const uint8_t byte : digest) {
    char pair[3];
    std::snprintf(pair, sizeof pair, "%02x", byte);
    text += pair;
  }
  return text;
}

}  // namespace

TEST(Sha256FitsThePublishedVectors) {
  CHECK_EQ(Hex(HashOf("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK_EQ(Hex(HashOf("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK_EQ(Hex(HashOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK_EQ(Hex(HashOf(std::string(1'000'000, 'a'))),
           "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256IsTheSameFromEveryImplementationAndSplit) {
  std::mt19937_64 random(agenttx::test::Seed());
  for (size_t length = 0; length < 300; length++) {
    std::string bytes;
    for (size_t i = 0; i < length; i++) bytes.push_back(static_cast<char>(random()));
    const Digest whole = HashOf(bytes);
    CHECK_EQ(Hex(PortableHashOf(bytes)), Hex(whole));
    const size_t cut = length == 0 ? 0 : random() % length;
    const std::string_view view = bytes;
    CHECK_EQ(Hex(Sha256().Update(view.substr(0, cut)).Update(view.substr(cut)).Finish()),
             Hex(whole));
  }
}

TEST(AChainVerifiesWithoutThePayloads) {
  ChainHead head = EmptyChain("tx");
  Digest previous = head.hash;
  for (uint64_t seq = 1; seq <= 3; seq++) {
    const std::string bytes = AppendToChain(&head, "event " + std::to_string(seq));
    ChainEntry entry;
    CHECK(DecodeChainEntry(bytes, &entry));
    std::string link(AsBytes(previous));
    for (int shift = 56; shift >= 0; shift -= 8) link.push_back(static_cast<char>(seq >> shift));
    link.append(AsBytes(entry.digest));
    CHECK_EQ(Hex(HashOf(link)), Hex(entry.hash));
    CHECK_EQ(Hex(head.hash), Hex(entry.hash));
    previous = entry.hash;
  }
  CHECK(Hex(EmptyChain("tx").hash) != Hex(EmptyChain("other").hash));
}
