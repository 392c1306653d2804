// Owns how one read value reaches JavaScript: small ones are written over the key in the caller's
// scratch, which makes no object at all; large ones come in memory of their own.
#pragma once

#include <optional>
#include <string>

#include "agenttx/store.h"
#include "arguments.h"
#include "node.h"

namespace agenttx::node {

// null: there is none. A number: that many bytes now stand in `scratch`. Else a Uint8Array.
Napi::Value ReadResult(Napi::Env env, ByteSpan scratch, std::optional<std::string> value);

// Reads start, end, reverse and limit from `first` on.
Range DecodeRange(const Arguments& args, size_t first);

}  // namespace agenttx::node
