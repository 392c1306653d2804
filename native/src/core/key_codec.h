// Owns the layout of every key (docs/formats.md, S1).
// K1 Injective and prefix-free: a namespace and a transaction id carry their length, so no key of
//    one transaction can be read as another's, whatever bytes the names hold.
// K2 Numbers are fixed-width and big-endian: byte order is numeric order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "agenttx/batch_format.h"
#include "agenttx/status.h"

namespace agenttx {

// Index into the list of column families; the names are in families.cc.
enum Family : int { kDefault = 0, kSnapshots, kSagaLogs, kEffects, kAuditFamily, kFamilyCount };

inline constexpr size_t kKeyBytesMax = 4096;
inline constexpr size_t kValueBytesMax = 64u << 20;
inline constexpr size_t kNameBytesMax = 255;  // of a namespace or a transaction id: one length byte
inline constexpr size_t kRecordNameBytesMax = 4096;

// Half-open range of encoded keys.
struct KeyRange {
  std::string begin;
  std::string end;
};

// OK, or kInvalidArgument when a name is too long (or an id is empty and may not be).
Status CheckName(std::string_view ns, std::string_view id, bool id_may_be_empty);
// OK, or kInvalidKey: 1..4096 bytes (S11).
Status CheckKey(std::string_view key);

// The part of a key that says whose it is: nsLength:u8 ns idLength:u8 id.
std::string EncodeName(std::string_view ns, std::string_view id);

inline std::string_view NamespaceOf(std::string_view encoded_name) {
  return encoded_name.substr(1, static_cast<uint8_t>(encoded_name[0]));
}

// g/{ns} - followed by the key.
std::string CommittedPrefix(std::string_view ns);
// x/{tx}s/ and x/{tx}o/
std::string OverlayPrefix(std::string_view name);
std::string OutputPrefix(std::string_view name);
// {letter}/{tx}
std::string TransactionPrefix(char letter, std::string_view name);

std::string HeaderKey(std::string_view name);                   // t/{tx}
std::string SnapshotKey(std::string_view name, uint32_t step);  // m/{tx}{step}
std::string JournalKey(std::string_view name, uint64_t seq);    // j/{tx}{seq}
std::string ReadSetKey(std::string_view name, uint64_t seq);    // v/{tx}{seq}
std::string ChainKey(std::string_view name, uint64_t seq);      // a/{tx}{seq}
std::string ChainHeadKey(std::string_view name);                // h/{tx}
std::string StoreChainKey(uint64_t seq);                        // s/{seq}

// Records that JavaScript names by (space, step, seq, name). A space uses some of these fields, the
// others count as 0 or empty. Records of kMeta belong to no transaction, whoever writes them.
Family FamilyOf(RecordSpace space);
char LetterOf(RecordSpace space);  // 'x' for outputs
std::string RecordPrefix(RecordSpace space, std::string_view name);
std::string RecordKey(RecordSpace space, std::string_view name, uint32_t step, uint64_t seq,
                      std::string_view record_name);

struct ParsedName {
  std::string_view ns;
  std::string_view id;
};
// Reads "{letter}/{tx}" and leaves what follows in `rest`. False: not such a key.
bool ParseName(std::string_view key, ParsedName* name, std::string_view* rest);

// The smallest key greater than every key that starts with `prefix`.
// REQUIRES: `prefix` has a byte other than 0xFF (every family letter is one).
std::string PrefixEnd(std::string_view prefix);
KeyRange PrefixRange(std::string prefix);

// Meta records in the default family.
inline constexpr std::string_view kFormatKey = "c/format";
inline constexpr std::string_view kOpenCountKey = "c/opens";
inline constexpr std::string_view kStateKey = "c/state";

}  // namespace agenttx
