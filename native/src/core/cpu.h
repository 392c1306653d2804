// Owns the check that this CPU has what RocksDB was compiled for (cmake/rocksdb/CMakeLists.txt).
#pragma once

#include "agenttx/status.h"

namespace agenttx {

// OK, or kInternal naming the instructions that are missing.
Status CheckCpu();

}  // namespace agenttx
