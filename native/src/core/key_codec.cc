// Owns the bytes of every key; see key_codec.h.
#include "key_codec.h"

#include "bytes.h"

namespace agenttx {
namespace {

std::string WithU64(std::string prefix, uint64_t number) {
  AppendU64(&prefix, number);
  return prefix;
}

// Which fields tell the records of a space apart.
struct Fields {
  bool step = false;
  bool seq = false;
  bool name = false;
};

Fields FieldsOf(RecordSpace space) {
  switch (space) {
    case RecordSpace::kOutput:
      return {.step = true};
    case RecordSpace::kSaga:
      return {.step = true, .seq = true};
    case RecordSpace::kEffect:
    case RecordSpace::kOutbox:
    case RecordSpace::kLate:
      return {.seq = true};
    case RecordSpace::kRequest:
    case RecordSpace::kMeta:
      return {.name = true};
    case RecordSpace::kTerminal:
      break;
  }
  return {};
}

std::string OverlayPart(std::string_view name, std::string_view part) {
  std::string key;
  key.reserve(2 + name.size() + part.size() + 32);
  key.append("x/").append(name).append(part);
  return key;
}

}  // namespace

Status CheckName(std::string_view ns, std::string_view id, bool id_may_be_empty) {
  if (ns.size() > kNameBytesMax || id.size() > kNameBytesMax) {
    return {Code::kInvalidArgument,
            "A namespace or transaction id is longer than 255 bytes; nothing was done."};
  }
  if (id.empty() && !id_may_be_empty) {
    return {Code::kInvalidArgument, "The transaction id is empty; nothing was done."};
  }
  return Status::Ok();
}

Status CheckKey(std::string_view key) {
  if (key.empty() || key.size() > kKeyBytesMax) {
    return {Code::kInvalidKey, "A key has " + std::to_string(key.size()) +
                                   " bytes; 1 to 4096 are allowed. Nothing was written."};
  }
  return Status::Ok();
}

std::string EncodeName(std::string_view ns, std::string_view id) {
  std::string name;
  name.reserve(2 + ns.size() + id.size());
  AppendU8(&name, static_cast<uint8_t>(ns.size()));
  name.append(ns);
  AppendU8(&name, static_cast<uint8_t>(id.size()));
  name.append(id);
  return name;
}

std::string CommittedPrefix(std::string_view ns) {
  std::string prefix = "g/";
  AppendU8(&prefix, static_cast<uint8_t>(ns.size()));
  return prefix.append(ns);
}

std::string OverlayPrefix(std::string_view name) { return OverlayPart(name, "s/"); }
std::string OutputPrefix(std::string_view name) { return OverlayPart(name, "o/"); }

std::string TransactionPrefix(char letter, std::string_view name) {
  std::string prefix;
  prefix.reserve(2 + name.size() + 16);
  prefix.push_back(letter);
  prefix.push_back('/');
  return prefix.append(name);
}

std::string HeaderKey(std::string_view name) { return TransactionPrefix('t', name); }

std::string SnapshotKey(std::string_view name, uint32_t step) {
  std::string key = TransactionPrefix('m', name);
  AppendU32(&key, step);
  return key;
}

std::string JournalKey(std::string_view name, uint64_t seq) {
  return WithU64(TransactionPrefix('j', name), seq);
}

std::string ReadSetKey(std::string_view name, uint64_t seq) {
  return WithU64(TransactionPrefix('v', name), seq);
}

std::string ChainKey(std::string_view name, uint64_t seq) {
  return WithU64(TransactionPrefix('a', name), seq);
}

std::string ChainHeadKey(std::string_view name) { return TransactionPrefix('h', name); }
std::string StoreChainKey(uint64_t seq) { return WithU64("s/", seq); }

Family FamilyOf(RecordSpace space) {
  switch (space) {
    case RecordSpace::kOutput:
      return kDefault;
    case RecordSpace::kSaga:
      return kSagaLogs;
    case RecordSpace::kRequest:
    case RecordSpace::kTerminal:
      return kSnapshots;
    case RecordSpace::kEffect:
    case RecordSpace::kOutbox:
    case RecordSpace::kLate:
    case RecordSpace::kMeta:
      return kEffects;
  }
  return kEffects;
}

char LetterOf(RecordSpace space) {
  switch (space) {
    case RecordSpace::kOutput:
      return 'x';
    case RecordSpace::kSaga:
      return 'u';
    case RecordSpace::kEffect:
      return 'e';
    case RecordSpace::kOutbox:
      return 'q';
    case RecordSpace::kRequest:
      return 'r';
    case RecordSpace::kTerminal:
      return 'f';
    case RecordSpace::kLate:
      return 'l';
    case RecordSpace::kMeta:
      return 'w';
  }
  return 'w';
}

std::string RecordPrefix(RecordSpace space, std::string_view name) {
  if (space == RecordSpace::kOutput) return OutputPrefix(name);
  if (space == RecordSpace::kMeta) return TransactionPrefix('w', EncodeName(NamespaceOf(name), ""));
  return TransactionPrefix(LetterOf(space), name);
}

std::string RecordKey(RecordSpace space, std::string_view name, uint32_t step, uint64_t seq,
                      std::string_view record_name) {
  std::string key = RecordPrefix(space, name);
  const Fields fields = FieldsOf(space);
  AppendU32(&key, fields.step ? step : 0);
  AppendU64(&key, fields.seq ? seq : 0);
  return fields.name ? key.append(record_name) : key;
}

bool ParseName(std::string_view key, ParsedName* name, std::string_view* rest) {
  ByteReader reader(key);
  reader.Take(2);
  name->ns = reader.Take(reader.U8());
  name->id = reader.Take(reader.U8());
  *rest = reader.rest();
  return !reader.failed();
}

std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (static_cast<uint8_t>(end.back()) == 0xFF) end.pop_back();
  end.back() = static_cast<char>(static_cast<uint8_t>(end.back()) + 1);
  return end;
}

KeyRange PrefixRange(std::string prefix) {
  std::string end = PrefixEnd(prefix);
  return {std::move(prefix), std::move(end)};
}

}  // namespace agenttx
