// Owns how RocksDB is configured; see families.h. Options are never changed at run time: releases
// after 9.7 fixed damage that came from it.
#include "families.h"

#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>

namespace agenttx {
namespace {

constexpr uint64_t kWalBytesMax = 256ull << 20;
// Journals and overlays are written once and deleted soon: a file in which half of 1,024 entries in
// a row are deletions is compacted, so that scans do not walk over what is gone.
constexpr size_t kDeletionWindow = 1024;
constexpr size_t kDeletionTrigger = 512;
// Each range deletion slows reads of its memtable; after this many the memtable is flushed.
constexpr uint32_t kRangeDeletionsMax = 128;

}  // namespace

const std::vector<std::string>& FamilyNames() {
  static const std::vector<std::string> names = {"default", "snapshots", "saga_logs", "effects",
                                                 "audit"};
  return names;
}

rocksdb::DBOptions DatabaseOptions(const StoreOptions& options, rocksdb::Env* env,
                                   std::shared_ptr<InfoLogger> logger) {
  rocksdb::DBOptions db;
  db.create_if_missing = true;
  db.create_missing_column_families = true;
  if (env != nullptr) db.env = env;
  db.info_log = std::move(logger);
  db.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  // Damage in the middle of the log is refused; only a torn tail, which every crash leaves, is
  // accepted (S9b). Salvage keeps what stands before the damage.
  db.wal_recovery_mode = options.salvage ? rocksdb::WALRecoveryMode::kPointInTimeRecovery
                                         : rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  // A log that is no longer written to and is gone or cut short is refused: replaying the later
  // ones would leave a hole in the history. Salvage takes what there is.
  db.track_and_verify_wals_in_manifest = !options.salvage;
  // Opening on a full disk must not need room for a flush.
  db.avoid_flush_during_recovery = true;
  db.avoid_flush_during_shutdown = true;
  db.max_total_wal_size = kWalBytesMax;
  db.max_background_jobs = 2;
  db.stats_dump_period_sec = 0;
  db.stats_persist_period_sec = 0;
  db.max_open_files = 512;
  db.allow_fallocate = true;
  return db;
}

rocksdb::ColumnFamilyOptions FamilyOptions(const StoreOptions& options, Family family,
                                           std::shared_ptr<rocksdb::Cache> cache) {
  rocksdb::ColumnFamilyOptions cf;
  cf.compression = rocksdb::kNoCompression;
  cf.bottommost_compression = rocksdb::kNoCompression;
  const bool is_busy = family == kDefault || family == kSnapshots;
  cf.write_buffer_size = is_busy ? options.write_buffer_bytes : options.write_buffer_bytes / 2;
  cf.memtable_max_range_deletions = kRangeDeletionsMax;
  cf.table_properties_collector_factories.push_back(
      rocksdb::NewCompactOnDeletionCollectorFactory(kDeletionWindow, kDeletionTrigger));
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = std::move(cache);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.format_version = 6;
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  cf.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  if (family == kDefault) {
    // A first write of a key looks for an overlay entry that is seldom there.
    cf.memtable_prefix_bloom_size_ratio = 0.02;
    cf.memtable_whole_key_filtering = true;
  }
  return cf;
}

Status FromRocks(const rocksdb::Status& status) {
  if (status.ok()) return Status::Ok();
  const std::string text = status.ToString();
  if (status.IsNotFound()) return {Code::kNotFound, text};
  if (status.IsCorruption()) {
    return {Code::kStoreCorrupt, "The store is damaged: " + text + ". Nothing was changed."};
  }
  if (status.IsNoSpace()) {
    return {Code::kResourceExhausted, "The disk of the store is full: " + text + "."};
  }
  return {Code::kInternal, "The storage failed: " + text + "."};
}

}  // namespace agenttx
