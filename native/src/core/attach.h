// Owns finding an open transaction by its name, in memory or on disk.
// F1 For each name there is at most one object in use: one that ended or was never there is
//    retired (kEnded) under its mutex, and whoever meets it looks the name up again.
#pragma once

#include <string>

#include "database.h"
#include "work.h"

namespace agenttx {

// Reads t/ (and v/) when memory does not have the transaction yet; `phase` stays kUnloaded when
// there is none. REQUIRES: tx->mutex is held.
Status LoadTransaction(Database* db, Transaction* tx);

// A work that starts from a name instead of a handle.
class NamedWork : public Work {
 public:
  std::string other_name;   // when not empty, RunNamed sets `other` too
  bool must_retry = false;  // an object found was retired; RunNamed looks again
};

// LoadTransaction for a NamedWork's Prepare.
Status LoadNamed(Database* db, Transaction* tx, bool* must_retry);
// Sets work->tx and runs the work; an object that is not open afterwards leaves the table.
Status RunNamed(Database* db, const std::string& encoded_name, NamedWork* work);

}  // namespace agenttx
