// Owns what a transaction has read; see read_set.h.
#include "read_set.h"

#include <algorithm>

#include "bytes.h"

namespace agenttx {
namespace {

void AppendRead(std::string* out, std::string_view key, uint64_t version, bool validate) {
  AppendSized(out, key);
  AppendU64(out, version);
  AppendU8(out, validate ? 1 : 0);
}

}  // namespace

const ReadEntry* ReadSet::Find(std::string_view key) const {
  if (entries_.empty()) return nullptr;
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

void ReadSet::Remember(std::string_view key, uint64_t version, bool validate) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    const auto added = entries_.emplace(key, ReadEntry{version, validate}).first;
    log_.push_back({&added->first, true, validate});
  } else if (validate && !found->second.is_validated) {
    found->second.is_validated = true;
    log_.push_back({&found->first, false, true});
  }
}

void ReadSet::ForgetFrom(uint64_t seq) {
  records_.resize(RecordsBefore(seq));
  while (log_.size() > saved_count()) {
    const LogItem item = log_.back();
    log_.pop_back();
    const auto found = entries_.find(*item.key);
    if (item.is_first) {
      entries_.erase(found);
    } else {
      found->second.is_validated = false;
    }
  }
}

void ReadSet::Clear() {
  entries_ = {};
  log_ = {};
  records_ = {};
}

void ReadSet::MarkSaved(uint64_t seq) {
  if (has_unsaved()) records_.push_back({seq, log_.size()});
}

bool ReadSet::LoadRecord(uint64_t seq, std::string_view bytes) {
  ByteReader reader(bytes);
  while (!reader.at_end() && !reader.failed()) {
    const std::string_view key = reader.Sized();
    const uint64_t version = reader.U64();
    const bool validate = reader.U8() == 1;
    if (reader.failed()) return false;
    Remember(key, version, validate);
  }
  MarkSaved(seq);
  return !reader.failed();
}

std::string ReadSet::EncodeUnsaved() const { return EncodeLog(saved_count(), log_.size()); }

std::string ReadSet::EncodeBefore(uint64_t seq) const {
  const size_t count = RecordsBefore(seq);
  return count == 0 ? std::string() : EncodeLog(0, records_[count - 1].log_end);
}

size_t ReadSet::CountRecordsFrom(uint64_t seq) const {
  return records_.size() - RecordsBefore(seq);
}

size_t ReadSet::RecordsBefore(uint64_t seq) const {
  const auto first_newer =
      std::lower_bound(records_.begin(), records_.end(), seq,
                       [](const Record& record, uint64_t bound) { return record.seq < bound; });
  return static_cast<size_t>(first_newer - records_.begin());
}

std::string ReadSet::EncodeLog(size_t begin, size_t end) const {
  std::string out;
  for (size_t i = begin; i < end; i++) {
    AppendRead(&out, *log_[i].key, entries_.find(*log_[i].key)->second.version, log_[i].validate);
  }
  return out;
}

}  // namespace agenttx
