// Owns the byte format of results: one buffer per call, never a JavaScript object per row.
// Integers are little-endian; `bytes` is len:u32 and then the bytes. The reader is
// packages/storage/src/rocks/result-reader.ts.
//
// keys         := count:u32 (key:bytes)*
// values       := count:u32 (has:u8 value:bytes)*
// entries      := count:u32 (key:bytes value:bytes)*
// records      := count:u32 (tx:bytes step:u32 seq:u64 name:bytes value:bytes)*
// audit        := count:u32 (seq:u64 payload:bytes hash:bytes)*
// transactions := count:u32 (ns:bytes id:bytes incarnation:u64 owner:u64 attempt:u64 step:u32
//                            snapshot:u32 payload:bytes)*
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agenttx/store.h"
#include "node.h"

namespace agenttx::node {

std::string PackKeys(const std::vector<std::string>& keys);
std::string PackValues(const std::vector<std::optional<std::string>>& values);
std::string PackEntries(const std::vector<Entry>& entries);
std::string PackRecords(const std::vector<RecordEntry>& records);
std::string PackAudit(const std::vector<AuditEntry>& entries);
std::string PackTransactions(const std::vector<OpenTransaction>& transactions);

// Reads `keys`. Throws Refusal when a bound is wrong; the views point into `packed`.
std::vector<std::string_view> UnpackKeys(std::string_view packed);

// JavaScript thread. A Uint8Array of its own memory; large ones take the string over uncopied.
// Throws Refusal when the environment can no longer make values.
napi_value MakeBytes(napi_env env, std::string bytes);

}  // namespace agenttx::node
