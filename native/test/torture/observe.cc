// Owns reading all of a store; see observe.h.
#include "observe.h"

#include <sstream>

#include "audit_chain.h"
#include "key_codec.h"

namespace agenttx::torture {
namespace {

constexpr RecordSpace kSpacesOfAll[] = {
    RecordSpace::kSaga,     RecordSpace::kEffect, RecordSpace::kOutbox, RecordSpace::kRequest,
    RecordSpace::kTerminal, RecordSpace::kLate,   RecordSpace::kMeta};
constexpr uint32_t kAll = 100'000;

std::string Brief(std::string_view value) {
  if (value.size() <= 40) return std::string(value);
  return std::to_string(value.size()) + ":" + std::to_string(std::hash<std::string_view>()(value));
}

Status ReadCommitted(Store* store, const ObserveOptions& options, Parts* parts) {
  Range range;
  range.limit = kAll;
  // A scan ends after about 16 MiB: it goes on behind the last key until nothing comes.
  for (;;) {
    std::vector<Entry> entries;
    Status status = store->ScanCommitted("", range, &entries);
    if (!status.ok() || entries.empty()) return status;
    for (const Entry& entry : entries) {
      std::optional<std::string> value;
      uint64_t version = 0;
      status = store->GetCommitted("", entry.key, &value, &version);
      if (!status.ok()) return status;
      const std::string text = Brief(value.value_or("(none)"));
      const bool same = value.has_value() && *value == entry.value;
      (*parts)["key:" + entry.key] = text +
                                     (options.masks_versions ? "" : "@" + std::to_string(version)) +
                                     (same ? "" : " but the scan says " + Brief(entry.value));
    }
    range.start = entries.back().key + std::string(1, '\0');
  }
}

Status ReadOverlay(Store* store, const TransactionRef& tx, std::ostringstream* out) {
  Range range;
  range.limit = kAll;
  for (;;) {
    std::vector<Entry> entries;
    Status status = store->Scan(tx, range, &entries);
    if (status.code() == Code::kScanNotSerializable) {
      *out << " serializable";
      return Status::Ok();
    }
    if (!status.ok() || entries.empty()) return status;
    for (const Entry& entry : entries) *out << ' ' << entry.key << '=' << Brief(entry.value);
    range.start = entries.back().key + std::string(1, '\0');
  }
}

void Append(std::ostringstream* out, RecordSpace space, const RecordEntry& entry) {
  *out << static_cast<int>(space) << '/' << entry.step << '/' << entry.seq << '/' << entry.name
       << '=' << Brief(entry.value) << ' ';
}

Status ReadTransactions(Store* store, const ObserveOptions& options, Parts* parts) {
  std::vector<OpenTransaction> open;
  Status status = store->OpenTransactions(std::nullopt, kAll, &open);
  for (size_t i = 0; status.ok() && i < open.size(); i++) {
    const Header& header = open[i].header;
    std::ostringstream out;
    out << header.owner << ' ' << header.attempt << ' ' << header.step << ' ' << header.snapshot
        << ' ' << Brief(header.payload) << ':';
    TransactionRef tx;
    status = store->Attach(open[i].name, &tx);
    if (status.ok() && options.masks_versions) {
      // What others committed meanwhile shows in a scan; the key of its own name does not.
      std::optional<std::string> own;
      status = store->Get(tx, open[i].name.id, false, &own);
      out << ' ' << own.value_or("(none)");
    } else if (status.ok()) {
      status = ReadOverlay(store, tx, &out);
    }
    std::vector<RecordEntry> outputs;
    if (status.ok()) {
      status = store->ScanRecords(open[i].name, false, RecordSpace::kOutput, 0, std::nullopt, kAll,
                                  &outputs);
    }
    for (const RecordEntry& output : outputs) Append(&out, RecordSpace::kOutput, output);
    (*parts)["tx:" + open[i].name.id] = out.str();
  }
  return status;
}

Status ReadRecords(Store* store, Parts* parts) {
  std::map<std::string, std::ostringstream> texts;
  for (const RecordSpace space : kSpacesOfAll) {
    std::vector<RecordEntry> entries;
    Status status = store->ScanRecords({"", ""}, true, space, 0, std::nullopt, kAll, &entries);
    if (!status.ok()) return status;
    for (const RecordEntry& entry : entries) Append(&texts[entry.tx], space, entry);
  }
  for (const auto& [tx, text] : texts) (*parts)["records:" + tx] = text.str();
  return Status::Ok();
}

Status ReadChain(Store* store, const std::optional<TransactionName>& tx, std::string* text) {
  std::vector<AuditEntry> entries;
  Status status = store->ReadAudit(tx, 1, kAll, &entries);
  if (status.code() == Code::kNotFound) return Status::Ok();
  if (!status.ok()) return status;
  ChainHead head = EmptyChain(tx.has_value() ? std::string_view(EncodeName(tx->ns, tx->id))
                                             : kStoreChainIdentity);
  for (const AuditEntry& entry : entries) {
    (void)AppendToChain(&head, entry.payload);
    const std::string_view hash(reinterpret_cast<const char*>(head.hash.data()), 32);
    if (entry.seq != head.seq || entry.hash != hash) {
      return {Code::kInternal, "broken chain at entry " + std::to_string(entry.seq)};
    }
    *text += Brief(entry.payload) + " ";
  }
  return status;
}

}  // namespace

Status Observe(Store* store, const ObserveOptions& options, Parts* parts) {
  parts->clear();
  Stats stats;
  Status status = store->GetStats(&stats);
  if (!status.ok()) return status;
  (*parts)["commit"] = std::to_string(stats.commit_version);
  status = ReadCommitted(store, options, parts);
  if (status.ok()) status = ReadRecords(store, parts);
  for (size_t i = 0; status.ok() && i < options.ids.size(); i++) {
    std::string text;
    status = ReadChain(store, TransactionName{"", options.ids[i]}, &text);
    if (!text.empty()) (*parts)["audit:" + options.ids[i]] = text;
  }
  if (status.ok()) status = ReadChain(store, std::nullopt, &(*parts)["audit"]);
  // Last, since attaching writes.
  return status.ok() ? ReadTransactions(store, options, parts) : status;
}

std::string Difference(const Parts& expected, const Parts& actual) {
  std::string text;
  const auto add = [&](const std::string& name, const Parts& one, const Parts& other) {
    const auto found = other.find(name);
    const std::string there = found == other.end() ? "(none)" : found->second;
    if (there == one.at(name) || text.size() > 400) return;
    text += name + " is " + there.substr(0, 80) + ", expected " + one.at(name).substr(0, 80) + "; ";
  };
  for (const auto& [name, content] : expected) add(name, expected, actual);
  for (const auto& [name, content] : actual) {
    if (expected.count(name) == 0 && text.size() <= 400) {
      text += name + " is " + content.substr(0, 80) + ", expected nothing; ";
    }
  }
  return text;
}

}  // namespace agenttx::torture
