// Owns random pairs of keys (Z1): injective, prefix-free, in order of their numbers, and every
// range of a transaction holds its own keys and no others.
#include <tuple>

#include "fuzz.h"
#include "key_codec.h"

namespace agenttx::torture {
namespace {

// Bytes that name, separate, or end ranges elsewhere.
constexpr char kLetters[] = {'\0', '\xFF', '/', 's', 'o', 'x', '1', '\x01', '\x02', 'a'};

std::string RandomBytes(std::mt19937_64* random, size_t bytes_max) {
  std::string bytes((*random)() % 16 == 0 ? (*random)() % (bytes_max + 1) : (*random)() % 4, '\0');
  for (char& byte : bytes) byte = kLetters[(*random)() % sizeof kLetters];
  return bytes;
}

uint64_t RandomNumber(std::mt19937_64* random) {
  static constexpr uint64_t kEdges[] = {
      0,          1,          9,         10, 255, 256, 1ull << 31, 1ull << 32, (1ull << 53) - 1,
      1ull << 53, 1ull << 63, UINT64_MAX};
  const uint64_t draw = (*random)();
  return draw % 4 == 0 ? draw >> 2 : kEdges[(draw >> 2) % std::size(kEdges)] + (draw >> 8) % 2;
}

struct Key {
  std::string ns;
  std::string id;
  RecordSpace space;
  uint32_t step;
  uint64_t seq;
  std::string name;

  std::string encoded_name() const { return EncodeName(ns, id); }
  std::string encoded() const { return RecordKey(space, encoded_name(), step, seq, name); }
  // Fields that the space does not use do not count.
  auto identity() const {
    const bool is_meta = space == RecordSpace::kMeta;
    const bool has_step = space == RecordSpace::kOutput || space == RecordSpace::kSaga;
    const bool has_name = is_meta || space == RecordSpace::kRequest;
    const bool has_seq =
        !has_name && space != RecordSpace::kOutput && space != RecordSpace::kTerminal;
    return std::make_tuple(space, ns, is_meta ? std::string() : id, has_step ? step : 0,
                           has_seq ? seq : 0, has_name ? name : std::string());
  }
};

Key RandomKey(std::mt19937_64* random) {
  return {RandomBytes(random, kNameBytesMax),
          "i" + RandomBytes(random, kNameBytesMax - 1),
          static_cast<RecordSpace>(1 + (*random)() % 8),
          static_cast<uint32_t>(RandomNumber(random)),
          RandomNumber(random),
          RandomBytes(random, 32)};
}

// One thing is different, or nothing.
Key Neighbour(Key key, std::mt19937_64* random) {
  switch ((*random)() % 8) {
    case 0:
      key.ns = RandomBytes(random, 8);
      break;
    case 1:
      key.id += kLetters[(*random)() % sizeof kLetters];
      break;
    case 2:
      key.step = static_cast<uint32_t>(RandomNumber(random));
      break;
    case 3:
      key.seq = RandomNumber(random);
      break;
    case 4:
      key.name += kLetters[(*random)() % sizeof kLetters];
      break;
    case 5:
      key.space = static_cast<RecordSpace>(1 + (*random)() % 8);
      break;
    case 6:
      key = RandomKey(random);
      break;
    default:
      break;
  }
  return key;
}

bool IsIn(const KeyRange& range, std::string_view key) {
  return key >= range.begin && key < range.end;
}

}  // namespace

void FuzzKeyPair(std::mt19937_64* random, const Complain& complain) {
  const Key one = RandomKey(random);
  const Key other = Neighbour(one, random);
  const std::string a = one.encoded();
  const std::string b = other.encoded();
  const bool same_family = FamilyOf(one.space) == FamilyOf(other.space);
  if (same_family && (a == b) != (one.identity() == other.identity())) {
    complain("two records share one key, or one has two", a + " and " + b);
  }
  const std::string name = one.encoded_name();
  const std::string other_name = other.encoded_name();
  if (name != other_name && other_name.starts_with(name)) {
    complain("a name is the beginning of another", name + " and " + other_name);
  }
  // Ranges: a record is in the range of its own transaction, and of no other.
  if (one.space != RecordSpace::kMeta) {
    const KeyRange range = PrefixRange(RecordPrefix(one.space, name));
    if (!IsIn(range, a)) complain("a record is outside of its own range", a);
    if (one.space == other.space && IsIn(range, b) != (name == other_name)) {
      complain("a range holds a record of another", a + " and " + b);
    }
  }
  const KeyRange overlay = PrefixRange(OverlayPrefix(name));
  if (IsIn(overlay, OverlayPrefix(other_name) + one.name) != (name == other_name)) {
    complain("an overlay holds a key of another", name + " and " + other_name);
  }
  if (IsIn(overlay, RecordKey(RecordSpace::kOutput, other_name, one.step, 0, {}))) {
    complain("an overlay holds an output", name);
  }
  const KeyRange committed = PrefixRange(CommittedPrefix(one.ns));
  if (IsIn(committed, CommittedPrefix(other.ns) + one.name) != (one.ns == other.ns)) {
    complain("a namespace holds a key of another", one.ns + " and " + other.ns);
  }
  // Order of numbers.
  if ((JournalKey(name, one.seq) < JournalKey(name, other.seq)) != (one.seq < other.seq) ||
      (SnapshotKey(name, one.step) < SnapshotKey(name, other.step)) != (one.step < other.step) ||
      (ChainKey(name, one.seq) < ChainKey(name, other.seq)) != (one.seq < other.seq)) {
    complain("numbers are out of order", name);
  }
  ParsedName parsed;
  std::string_view rest;
  const std::string header = HeaderKey(name);
  if (!ParseName(header, &parsed, &rest) || parsed.ns != one.ns || parsed.id != one.id ||
      !rest.empty()) {
    complain("a name is not read back", name);
  }
}

}  // namespace agenttx::torture
