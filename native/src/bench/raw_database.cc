// Owns the floors that the bench compares with; see raw_database.h.
#include "raw_database.h"

#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <cstring>

namespace agenttx::bench {

namespace {

// A prior value that was absent.
constexpr char kAbsent = 0;
constexpr char kPresent = 1;

std::string BigEndian(uint32_t value) {
  std::string bytes(4, '\0');
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(value >> (24 - 8 * i));
  return bytes;
}

bool TakeSized(std::string_view* rest, std::string_view* bytes) {
  uint32_t size = 0;
  if (rest->size() < sizeof size) return false;
  std::memcpy(&size, rest->data(), sizeof size);
  rest->remove_prefix(sizeof size);
  if (rest->size() < size) return false;
  *bytes = rest->substr(0, size);
  rest->remove_prefix(size);
  return true;
}

rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace

rocksdb::Status RawDatabase::Open(const std::string& path, bool sync_writes,
                                  std::unique_ptr<RawDatabase>* out) {
  std::unique_ptr<RawDatabase> self(new RawDatabase());
  self->write_options_.sync = sync_writes;
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  const rocksdb::ColumnFamilyOptions family;
  rocksdb::DB* db = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(
      options, path, {{rocksdb::kDefaultColumnFamilyName, family}, {"journal", family}},
      &self->families_, &db);
  self->db_.reset(db);
  if (status.ok()) *out = std::move(self);
  return status;
}

RawDatabase::~RawDatabase() {
  if (db_ == nullptr) return;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  }
  db_->Close().PermitUncheckedError();
}

rocksdb::Status RawDatabase::Put(std::string_view key, std::string_view value) {
  return db_->Put(write_options_, ToSlice(key), ToSlice(value));
}

rocksdb::Status RawDatabase::Get(std::string_view key, std::string* value, bool* found) {
  rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), ToSlice(key), value);
  *found = status.ok();
  return status.IsNotFound() ? rocksdb::Status::OK() : status;
}

rocksdb::Status RawDatabase::PutBatch(std::string_view entries) {
  rocksdb::WriteBatch batch(entries.size());
  while (!entries.empty()) {
    std::string_view key;
    std::string_view value;
    if (!TakeSized(&entries, &key) || !TakeSized(&entries, &value)) {
      return rocksdb::Status::InvalidArgument("entries are cut short");
    }
    rocksdb::Status status = batch.Put(ToSlice(key), ToSlice(value));
    if (!status.ok()) return status;
  }
  return db_->Write(write_options_, &batch);
}

rocksdb::Status RawDatabase::WriteJournaled(uint32_t writes, uint32_t keys, uint32_t value_bytes) {
  for (uint32_t i = 0; i < writes; ++i) {
    const std::string key = BigEndian(i % keys);
    std::string prior;
    bool found = false;
    rocksdb::Status status = Get(key, &prior, &found);
    if (!status.ok()) return status;
    rocksdb::WriteBatch batch;
    // A WriteBatch in memory fails only without memory; the write below reports everything else.
    batch.Put(families_[1], BigEndian(next_record_++), key + (found ? kPresent : kAbsent) + prior)
        .PermitUncheckedError();
    batch.Put(key, std::string(value_bytes, static_cast<char>('a' + i % 26)))
        .PermitUncheckedError();
    status = db_->Write(write_options_, &batch);
    if (!status.ok()) return status;
  }
  return rocksdb::Status::OK();
}

rocksdb::Status RawDatabase::RestoreEntryByEntry(uint32_t* restored) {
  *restored = 0;
  rocksdb::WriteBatch batch;
  const std::string first = BigEndian(first_record_);
  const rocksdb::Slice lower_bound(first);
  rocksdb::ReadOptions options;
  options.iterate_lower_bound = &lower_bound;
  std::unique_ptr<rocksdb::Iterator> records(db_->NewIterator(options, families_[1]));
  for (records->SeekToLast(); records->Valid(); records->Prev()) {
    const rocksdb::Slice record = records->value();
    const rocksdb::Slice key(record.data(), 4);
    rocksdb::Status status = record[4] == kPresent
                                 ? batch.Put(key, {record.data() + 5, record.size() - 5})
                                 : batch.Delete(key);
    if (status.ok()) status = batch.Delete(families_[1], records->key());
    if (!status.ok()) return status;
    ++*restored;
  }
  if (!records->status().ok()) return records->status();
  first_record_ = next_record_;
  return db_->Write(write_options_, &batch);
}

}  // namespace agenttx::bench
