// Owns what a transaction has read; see read_set.h.
#include "read_set.h"

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

void ReadSet::Remember(std::string_view key, uint64_t version, uint32_t step, bool validate) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    const uint32_t validate_step = validate ? step : UINT32_MAX;
    const auto added = entries_.emplace(key, ReadEntry{version, step, validate_step}).first;
    log_.push_back({&added->first, step, true, validate});
  } else if (validate && !found->second.is_validated()) {
    found->second.validate_step = step;
    log_.push_back({&found->first, step, false, true});
  }
}

void ReadSet::ForgetFrom(uint32_t step) {
  while (!log_.empty() && log_.back().step >= step) {
    const LogItem item = log_.back();
    log_.pop_back();
    const auto found = entries_.find(*item.key);
    if (item.is_first) {
      entries_.erase(found);
    } else {
      found->second.validate_step = UINT32_MAX;
    }
  }
  if (saved_ > log_.size()) saved_ = log_.size();
}

void ReadSet::Clear() {
  entries_ = {};
  log_ = {};
  saved_ = 0;
}

std::string ReadSet::EncodeUnsaved() const {
  std::string out;
  for (size_t i = saved_; i < log_.size(); i++) {
    AppendRead(&out, *log_[i].key, entries_.find(*log_[i].key)->second.version, log_[i].validate);
  }
  return out;
}

bool ReadSet::LoadRecord(uint32_t step, std::string_view bytes) {
  ByteReader reader(bytes);
  while (!reader.at_end() && !reader.failed()) {
    const std::string_view key = reader.Sized();
    const uint64_t version = reader.U64();
    const bool validate = reader.U8() == 1;
    if (reader.failed()) return false;
    Remember(key, version, step, validate);
  }
  MarkSaved();
  return !reader.failed();
}

std::string ReadSet::EncodeBefore(uint32_t step) const {
  std::string out;
  for (const auto& [key, read] : entries_) {
    if (read.step < step) AppendRead(&out, key, read.version, read.validate_step < step);
  }
  return out;
}

}  // namespace agenttx
