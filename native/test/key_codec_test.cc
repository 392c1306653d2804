// Goal: no key of one transaction can be read as another's, and byte order is numeric order (S1).
// Method: random names with the bytes that break naive layouts, compared with tuples.
#include "key_codec.h"

#include <map>
#include <tuple>
#include <vector>

#include "test_case.h"

using namespace agenttx;

namespace {

std::string RandomName(std::mt19937_64* random, size_t length_max) {
  static const std::string hostile(
      "\0/\xFF"
      "a\x01s",
      6);
  std::string name;
  const size_t length = (*random)() % (length_max + 1);
  for (size_t i = 0; i < length; i++) name.push_back(hostile[(*random)() % hostile.size()]);
  return name;
}

}  // namespace

TEST(KeysOfDifferentOwnersNeverMeet) {
  std::mt19937_64 random(agenttx::test::Seed());
  using Owner = std::tuple<std::string, std::string, std::string>;
  std::map<std::string, Owner> seen;
  for (int i = 0; i < 50'000; i++) {
    const Owner owner{RandomName(&random, 3), RandomName(&random, 4) + "x", RandomName(&random, 4)};
    const auto& [ns, id, key] = owner;
    const std::string name = EncodeName(ns, id);
    for (const std::string& encoded :
         {OverlayPrefix(name) + key, OutputPrefix(name) + key, CommittedPrefix(ns) + key}) {
      const bool is_committed = encoded[0] == 'g';
      const auto [at, is_new] = seen.emplace(encoded, owner);
      if (is_new) continue;
      CHECK(std::get<0>(at->second) == ns && std::get<2>(at->second) == key);
      CHECK(is_committed || std::get<1>(at->second) == id);
    }
  }
}

TEST(NoTransactionPrefixIsAPrefixOfAnothers) {
  std::mt19937_64 random(agenttx::test::Seed());
  std::vector<std::pair<std::string, std::string>> names = {
      {"", "1"}, {"", "10"}, {"", "1/0"}, {"1", "0"}, {"", std::string("1\0", 2)}};
  for (int i = 0; i < 300; i++) names.emplace_back(RandomName(&random, 3), RandomName(&random, 5));
  for (const auto& a : names) {
    for (const auto& b : names) {
      if (a == b) continue;
      const std::string prefix = TransactionPrefix('j', EncodeName(a.first, a.second));
      const std::string other = TransactionPrefix('j', EncodeName(b.first, b.second));
      CHECK(other.compare(0, prefix.size(), prefix) != 0);
    }
  }
}

TEST(NumbersInKeysSortAsNumbers) {
  const std::string name = EncodeName("tenant", "tx");
  const uint64_t numbers[] = {0,   1,    9,     10,         255,         256,
                              999, 1000, 65535, 0xFFFFFFFF, 0x100000000, UINT64_MAX};
  for (size_t i = 1; i < std::size(numbers); i++) {
    CHECK(JournalKey(name, numbers[i - 1]) < JournalKey(name, numbers[i]));
    CHECK(ChainKey(name, numbers[i - 1]) < ChainKey(name, numbers[i]));
    CHECK(StoreChainKey(numbers[i - 1]) < StoreChainKey(numbers[i]));
  }
  for (uint32_t step = 1; step < 1000; step++) {
    CHECK(SnapshotKey(name, step - 1) < SnapshotKey(name, step));
    CHECK(RecordKey(RecordSpace::kOutput, name, step - 1, UINT64_MAX, "\xFF") <
          RecordKey(RecordSpace::kOutput, name, step, 0, ""));
  }
}

TEST(PrefixEndIsTheFirstKeyBehindThePrefix) {
  CHECK_EQ(PrefixEnd("a"), "b");
  CHECK_EQ(PrefixEnd("a\xFF\xFF"), "b");
  std::mt19937_64 random(agenttx::test::Seed());
  for (int i = 0; i < 10'000; i++) {
    const std::string prefix = "j/" + RandomName(&random, 5);
    const std::string key = prefix + RandomName(&random, 5);
    const std::string other = "j/" + RandomName(&random, 8);
    CHECK(key < PrefixEnd(prefix));
    CHECK((other >= prefix && other < PrefixEnd(prefix)) ==
          (other.compare(0, prefix.size(), prefix) == 0));
  }
}

TEST(NamesAndKeysHaveLimits) {
  CHECK_CODE(CheckName(std::string(256, 'n'), "id", false), kInvalidArgument);
  CHECK_CODE(CheckName("", std::string(256, 'i'), false), kInvalidArgument);
  CHECK_CODE(CheckName("", "", false), kInvalidArgument);
  CHECK_OK(CheckName(std::string(255, 'n'), std::string(255, 'i'), false));
  CHECK_CODE(CheckKey(""), kInvalidKey);
  CHECK_CODE(CheckKey(std::string(4097, 'k')), kInvalidKey);
  CHECK_OK(CheckKey(std::string(4096, '\xFF')));
}

TEST(NamesAreReadBackFromKeys) {
  ParsedName name;
  std::string_view rest;
  const std::string key = JournalKey(EncodeName("ns", "id"), 7);
  CHECK(ParseName(key, &name, &rest));
  CHECK_EQ(name.ns, "ns");
  CHECK_EQ(name.id, "id");
  CHECK_EQ(rest.size(), 8u);
  CHECK(
      !ParseName("t/\x05"
                 "ab",
                 &name, &rest));
}
