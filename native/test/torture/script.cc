// Owns what all scripts have in common; see script.h.
#include "script.h"

namespace agenttx::torture {
namespace {

bool BelongsTo(const std::string& part, const std::string& member) {
  const size_t colon = part.find(':');
  return colon != std::string::npos && part.substr(colon + 1) == member;
}

std::string ContentOf(const Parts& parts, const std::string& name) {
  const auto found = parts.find(name);
  return found == parts.end() ? std::string() : found->second;
}

// Compares the parts that `belongs` picks.
template <typename Belongs>
bool AreEqual(const Parts& one, const Parts& other, const Belongs& belongs) {
  for (const auto& [name, content] : one) {
    if (belongs(name) && ContentOf(other, name) != content) return false;
  }
  for (const auto& [name, content] : other) {
    if (belongs(name) && ContentOf(one, name) != content) return false;
  }
  return true;
}

}  // namespace

Status Life::Reopen() {
  handles.clear();
  return store->Reopen();
}

Status Life::Restart() {
  Close();
  return Open();
}

void Life::Close() {
  handles.clear();
  if (store != nullptr) (void)store->Close();
  store.reset();
}

TransactionRef Life::Tx(const std::string& id, Status* status) {
  *status = Status::Ok();
  TransactionRef& tx = handles[id];
  if (tx == nullptr) *status = store->Attach({"", id}, &tx);
  return tx;
}

bool IsAllowed(const Act& act, const Parts& before, const Parts& after, const Parts& actual) {
  if (act.members.empty()) return actual == before || actual == after;
  const auto is_of_member = [&](const std::string& part) {
    for (const std::string& member : act.members) {
      if (BelongsTo(part, member)) return true;
    }
    // Concurrent commits move the version by one each.
    return part == "commit";
  };
  for (const std::string& member : act.members) {
    const auto belongs = [&](const std::string& part) { return BelongsTo(part, member); };
    if (!AreEqual(before, actual, belongs) && !AreEqual(after, actual, belongs)) return false;
  }
  return AreEqual(after, actual, [&](const std::string& part) { return !is_of_member(part); });
}

bool HasAcknowledged(const Act& act, const Parts& after, const Parts& actual) {
  if (act.acknowledged == nullptr) return true;
  for (const std::string& member : *act.acknowledged) {
    const auto belongs = [&](const std::string& part) { return BelongsTo(part, member); };
    if (!AreEqual(after, actual, belongs)) return false;
  }
  return true;
}

}  // namespace agenttx::torture
