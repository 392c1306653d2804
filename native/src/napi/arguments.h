// Owns the decoding of arguments: the only code that inspects JavaScript types. Each method throws
// Refusal(kInvalidArgument) that names the argument and what it must be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "node.h"

namespace agenttx::node {

// Memory of a Uint8Array. Valid until the call returns to JavaScript.
struct ByteSpan {
  uint8_t* data = nullptr;
  size_t size = 0;
  std::string_view View(size_t length) const {
    return {reinterpret_cast<const char*>(data), length};
  }
};

class Arguments {
 public:
  explicit Arguments(const Napi::CallbackInfo& info) : info_(info) {}

  ByteSpan Bytes(size_t index, const char* name) const;
  // The first `length` bytes of a Uint8Array; the length is the argument after it.
  std::string_view Prefix(size_t index, const char* name) const;
  std::optional<std::string> BytesOrNull(size_t index, const char* name) const;
  std::string Text(size_t index, const char* name) const;
  std::optional<std::string> TextOrNull(size_t index, const char* name) const;
  bool Flag(size_t index, const char* name) const;
  uint32_t U32(size_t index, const char* name) const;
  // A whole number 0..2^53-1.
  uint64_t U53(size_t index, const char* name) const;
  // Writes into a BigUint64Array of at least `count` elements.
  uint64_t* U64Array(size_t index, size_t count, const char* name) const;

 private:
  const Napi::CallbackInfo& info_;
};

}  // namespace agenttx::node
