// Owns the byte format of results; see packing.h.
#include "packing.h"

#include <cstring>
#include <memory>
#include <utility>

#include "status_to_error.h"

namespace agenttx::node {

namespace {

// Above it, handing the string over is cheaper than a copy on the JavaScript thread.
constexpr size_t kCopyBytesMax = 64 * 1024;

class Packer {
 public:
  void U8(uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void U32(uint32_t value) { Little(value, 4); }
  void U64(uint64_t value) { Little(value, 8); }
  void Bytes(std::string_view bytes) {
    U32(static_cast<uint32_t>(bytes.size()));
    out_.append(bytes);
  }
  void Reserve(size_t bytes) { out_.reserve(bytes); }
  std::string Take() { return std::move(out_); }

 private:
  void Little(uint64_t value, int width) {
    for (int i = 0; i < width; ++i) out_.push_back(static_cast<char>(value >> (8 * i)));
  }

  std::string out_;
};

// Packs `rows` after their count.
template <typename Rows, typename PackRow>
std::string PackRows(const Rows& rows, PackRow&& pack_row) {
  Packer packer;
  packer.U32(static_cast<uint32_t>(rows.size()));
  for (const auto& row : rows) pack_row(packer, row);
  return packer.Take();
}

uint32_t ReadU32(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    value |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

[[noreturn]] void RefuseValue() {
  throw Refusal(Status(Code::kInternal, "The result could not be handed to JavaScript."));
}

napi_value WrapBuffer(napi_env env, napi_value buffer, size_t size) {
  napi_value array;
  if (napi_create_typedarray(env, napi_uint8_array, size, buffer, 0, &array) != napi_ok) {
    RefuseValue();
  }
  return array;
}

// Null when the runtime does not allow memory that is not its own.
napi_value AdoptBytes(napi_env env, std::string* bytes) {
  auto owned = std::make_unique<std::string>(std::move(*bytes));
  napi_value buffer;
  napi_status status = napi_create_external_arraybuffer(
      env, owned->data(), owned->size(),
      [](napi_env, void*, void* hint) { delete static_cast<std::string*>(hint); }, owned.get(),
      &buffer);
  if (status != napi_ok) {
    *bytes = std::move(*owned);
    return nullptr;
  }
  return WrapBuffer(env, buffer, owned.release()->size());
}

}  // namespace

std::string PackKeys(const std::vector<std::string>& keys) {
  return PackRows(keys, [](Packer& packer, const std::string& key) { packer.Bytes(key); });
}

std::string PackValues(const std::vector<std::optional<std::string>>& values) {
  return PackRows(values, [](Packer& packer, const std::optional<std::string>& value) {
    packer.U8(value.has_value() ? 1 : 0);
    packer.Bytes(value ? std::string_view(*value) : std::string_view());
  });
}

std::string PackEntries(const std::vector<Entry>& entries) {
  Packer packer;
  size_t total = 4;
  for (const Entry& entry : entries) total += 8 + entry.key.size() + entry.value.size();
  packer.Reserve(total);
  packer.U32(static_cast<uint32_t>(entries.size()));
  for (const Entry& entry : entries) {
    packer.Bytes(entry.key);
    packer.Bytes(entry.value);
  }
  return packer.Take();
}

std::string PackRecords(const std::vector<RecordEntry>& records) {
  return PackRows(records, [](Packer& packer, const RecordEntry& record) {
    packer.Bytes(record.tx);
    packer.U32(record.step);
    packer.U64(record.seq);
    packer.Bytes(record.name);
    packer.Bytes(record.value);
  });
}

std::string PackAudit(const std::vector<AuditEntry>& entries) {
  return PackRows(entries, [](Packer& packer, const AuditEntry& entry) {
    packer.U64(entry.seq);
    packer.Bytes(entry.payload);
    packer.Bytes(entry.hash);
  });
}

std::string PackTransactions(const std::vector<OpenTransaction>& transactions) {
  return PackRows(transactions, [](Packer& packer, const OpenTransaction& open) {
    packer.Bytes(open.name.ns);
    packer.Bytes(open.name.id);
    packer.U64(open.header.incarnation);
    packer.U64(open.header.owner);
    packer.U64(open.header.attempt);
    packer.U32(open.header.step);
    packer.U32(open.header.snapshot);
    packer.Bytes(open.header.payload);
  });
}

std::vector<std::string_view> UnpackKeys(std::string_view packed) {
  const Refusal malformed(Status(Code::kInvalidArgument, "The packed keys are cut short."));
  if (packed.size() < 4) throw malformed;
  const uint32_t count = ReadU32(packed, 0);
  size_t at = 4;
  std::vector<std::string_view> keys;
  for (uint32_t i = 0; i < count; ++i) {
    if (packed.size() - at < 4) throw malformed;
    const uint32_t size = ReadU32(packed, at);
    at += 4;
    if (packed.size() - at < size) throw malformed;
    keys.push_back(packed.substr(at, size));
    at += size;
  }
  if (at != packed.size()) throw malformed;
  return keys;
}

napi_value MakeBytes(napi_env env, std::string bytes) {
  if (bytes.size() > kCopyBytesMax) {
    napi_value adopted = AdoptBytes(env, &bytes);
    if (adopted != nullptr) return adopted;
  }
  void* data = nullptr;
  napi_value buffer;
  if (napi_create_arraybuffer(env, bytes.size(), &data, &buffer) != napi_ok) RefuseValue();
  if (!bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
  return WrapBuffer(env, buffer, bytes.size());
}

}  // namespace agenttx::node
