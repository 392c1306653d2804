// Owns a pinned view of the database: reads through it see one moment, whatever is written
// meanwhile.
#pragma once

#include "database.h"

namespace agenttx {

class ReadView {
 public:
  explicit ReadView(Database* db) : db_(db), view_(db->rocks()->GetSnapshot()) {}
  ~ReadView() { db_->rocks()->ReleaseSnapshot(view_); }
  ReadView(const ReadView&) = delete;
  ReadView& operator=(const ReadView&) = delete;
  const rocksdb::Snapshot* get() const { return view_; }

 private:
  Database* const db_;
  const rocksdb::Snapshot* const view_;
};

}  // namespace agenttx
