// Owns the look at RocksDB's logs (write-ahead logs and the manifest) before RocksDB reads them.
// RocksDB 9.7 reads for ever at a record that says it belongs to a recycled log, when it is not the
// first of its file; as the first it ends the log in silence. No log is ever recycled here, so that
// a record of that kind is damage, whatever else is in the file.
#pragma once

#include <string>

#include "agenttx/status.h"

namespace agenttx {

// kStoreCorrupt: a log in RocksDB's folder, or the manifest that CURRENT names, holds such a
// record. What else may be wrong with them, RocksDB finds.
Status CheckLogs(const std::string& db_path);

}  // namespace agenttx
