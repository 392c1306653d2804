// Owns the merge of an overlay over committed state, in byte order, forward or backward (S5).
// I1 A key of the overlay hides the committed one; a tombstone hides it without showing anything.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "database.h"
#include "overlay_entry.h"

namespace agenttx {

class MergeIterator {
 public:
  // `overlay_prefix` and `committed_prefix` are cut off the keys. No overlay: committed state only.
  MergeIterator(Database* db, const std::string* overlay_prefix,
                const std::string& committed_prefix, const Range& range);

  // Moves to the first visible key. False: there is none, or `status()` is not OK.
  bool Next();
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  // Commit version of an entry of committed state; none for one of the overlay.
  std::optional<uint64_t> version() const { return version_; }
  Status status() const { return status_; }

 private:
  struct Side {
    std::unique_ptr<Database::RangeIterator> iterator;
    size_t prefix_bytes = 0;
    bool valid() const { return iterator != nullptr && (*iterator)->Valid(); }
    std::string_view key() const { return iterator->key().substr(prefix_bytes); }
  };

  void Open(Side* side, Database* db, const std::string& prefix, const Range& range);
  void Advance(Side* side);
  bool TakeOverlay();
  bool TakeCommitted();

  const bool reverse_;
  Side overlay_;
  Side committed_;
  // The sides that the current key came from; moved on by the next call, since the views point into
  // them.
  bool on_overlay_ = false;
  bool on_committed_ = false;
  std::string_view key_;
  std::string_view value_;
  std::optional<uint64_t> version_;
  Status status_;
};

}  // namespace agenttx
