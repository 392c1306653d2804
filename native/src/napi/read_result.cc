// Owns how one read value reaches JavaScript; see read_result.h.
#include "read_result.h"

#include <cstring>
#include <utility>

#include "packing.h"

namespace agenttx::node {

Napi::Value ReadResult(Napi::Env env, ByteSpan scratch, std::optional<std::string> value) {
  if (!value) return env.Null();
  if (value->size() > scratch.size) return Napi::Value(env, MakeBytes(env, std::move(*value)));
  if (!value->empty()) std::memcpy(scratch.data, value->data(), value->size());
  return Napi::Number::New(env, static_cast<double>(value->size()));
}

Range DecodeRange(const Arguments& args, size_t first) {
  Range range;
  range.start = args.BytesOrNull(first, "start");
  range.end = args.BytesOrNull(first + 1, "end");
  range.reverse = args.Flag(first + 2, "reverse");
  range.limit = args.U32(first + 3, "limit");
  return range;
}

}  // namespace agenttx::node
