// Owns the decoding of arguments; see arguments.h.
#include "arguments.h"

#include <cmath>

#include "status_to_error.h"

namespace agenttx::node {

namespace {

constexpr double kSafeIntegerMax = 9007199254740991.0;

[[noreturn]] void Refuse(const char* name, const char* wanted) {
  throw Refusal(Status(Code::kInvalidArgument,
                       std::string(name) + " must be " + wanted + "; nothing was done."));
}

// False when `value` is no typed array of that type.
bool TypedArray(napi_env env, napi_value value, napi_typedarray_type wanted, void** data,
                size_t* length) {
  bool is_typed_array = false;
  if (napi_is_typedarray(env, value, &is_typed_array) != napi_ok || !is_typed_array) return false;
  napi_typedarray_type type;
  return napi_get_typedarray_info(env, value, &type, length, data, nullptr, nullptr) == napi_ok &&
         type == wanted;
}

double WholeNumber(const Napi::CallbackInfo& info, size_t index, double max, const char* name,
                   const char* wanted) {
  double number = 0;
  if (napi_get_value_double(info.Env(), info[index], &number) != napi_ok) Refuse(name, wanted);
  if (!(number >= 0 && number <= max) || number != std::floor(number)) Refuse(name, wanted);
  return number;
}

bool IsNull(const Napi::CallbackInfo& info, size_t index) {
  napi_valuetype type;
  return napi_typeof(info.Env(), info[index], &type) == napi_ok && type == napi_null;
}

}  // namespace

ByteSpan Arguments::Bytes(size_t index, const char* name) const {
  void* data = nullptr;
  ByteSpan span;
  if (!TypedArray(info_.Env(), info_[index], napi_uint8_array, &data, &span.size)) {
    Refuse(name, "a Uint8Array");
  }
  span.data = static_cast<uint8_t*>(data);
  return span;
}

std::string_view Arguments::Prefix(size_t index, const char* name) const {
  const ByteSpan span = Bytes(index, name);
  const uint64_t length = U53(index + 1, "the length of the bytes");
  if (length > span.size) Refuse(name, "at least as long as the given length");
  return span.View(length);
}

std::optional<std::string> Arguments::BytesOrNull(size_t index, const char* name) const {
  if (IsNull(info_, index)) return std::nullopt;
  const ByteSpan span = Bytes(index, name);
  return std::string(span.View(span.size));
}

std::string Arguments::Text(size_t index, const char* name) const {
  size_t length = 0;
  const Napi::Env env = info_.Env();
  if (napi_get_value_string_utf8(env, info_[index], nullptr, 0, &length) != napi_ok) {
    Refuse(name, "a string");
  }
  std::string text(length, '\0');
  // One more for the terminator, which std::string has room for.
  napi_get_value_string_utf8(env, info_[index], text.data(), length + 1, &length);
  return text;
}

std::optional<std::string> Arguments::TextOrNull(size_t index, const char* name) const {
  if (IsNull(info_, index)) return std::nullopt;
  return Text(index, name);
}

bool Arguments::Flag(size_t index, const char* name) const {
  bool flag = false;
  if (napi_get_value_bool(info_.Env(), info_[index], &flag) != napi_ok) Refuse(name, "a boolean");
  return flag;
}

uint32_t Arguments::U32(size_t index, const char* name) const {
  return static_cast<uint32_t>(
      WholeNumber(info_, index, 4294967295.0, name, "a whole number 0..2^32-1"));
}

uint64_t Arguments::U53(size_t index, const char* name) const {
  return static_cast<uint64_t>(
      WholeNumber(info_, index, kSafeIntegerMax, name, "a whole number 0..2^53-1"));
}

uint64_t* Arguments::U64Array(size_t index, size_t count, const char* name) const {
  void* data = nullptr;
  size_t length = 0;
  if (!TypedArray(info_.Env(), info_[index], napi_biguint64_array, &data, &length) ||
      length < count) {
    Refuse(name, "a BigUint64Array with room for the numbers");
  }
  return static_cast<uint64_t*>(data);
}

}  // namespace agenttx::node
