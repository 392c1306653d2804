// Owns the floors that the bench compares with: plain RocksDB, nothing of ours in between. One
// put, one batch of puts, and the restore that everybody writes first: every journal record,
// newest first, puts its prior value back and is deleted. Not shipped.
#pragma once

#include <rocksdb/db.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace agenttx::bench {

class RawDatabase {
 public:
  static rocksdb::Status Open(const std::string& path, bool sync_writes,
                              std::unique_ptr<RawDatabase>* out);
  ~RawDatabase();

  rocksdb::Status Put(std::string_view key, std::string_view value);
  rocksdb::Status Get(std::string_view key, std::string* value, bool* found);
  // entries := (keyLen:u32 key valueLen:u32 value)*, little-endian. One batch.
  rocksdb::Status PutBatch(std::string_view entries);
  // `writes` writes in turn over `keys` keys, each one batch: journal record and value.
  rocksdb::Status WriteJournaled(uint32_t writes, uint32_t keys, uint32_t value_bytes);
  // Takes all journaled writes since the last restore back in one batch, and does not walk over
  // what earlier ones left. `*restored` is the number of records.
  rocksdb::Status RestoreEntryByEntry(uint32_t* restored);

 private:
  RawDatabase() = default;

  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;  // default, journal
  rocksdb::WriteOptions write_options_;
  uint32_t first_record_ = 0;
  uint32_t next_record_ = 0;
};

}  // namespace agenttx::bench
