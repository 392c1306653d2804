// Owns how RocksDB is configured and how its answers become ours.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <memory>
#include <string>
#include <vector>

#include "agenttx/status.h"
#include "agenttx/store.h"
#include "info_logger.h"
#include "key_codec.h"

namespace agenttx {

// In the order of Family.
const std::vector<std::string>& FamilyNames();

rocksdb::DBOptions DatabaseOptions(const StoreOptions& options, rocksdb::Env* env,
                                   std::shared_ptr<InfoLogger> logger);
rocksdb::ColumnFamilyOptions FamilyOptions(const StoreOptions& options, Family family,
                                           std::shared_ptr<rocksdb::Cache> cache);

// For reads and for opening. Failed writes poison the store instead (writer.cc).
Status FromRocks(const rocksdb::Status& status);

}  // namespace agenttx
