// Owns the scripts: short fixed lives of a store, one call of the core per act, so that every crash
// or failure falls into one act and leaves either the state before it or the state after.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agenttx/store.h"
#include "observe.h"

namespace agenttx::torture {

// A store under a script, and the handles of its transactions; attached again when needed.
class Life {
 public:
  explicit Life(StoreOptions options) : options_(std::move(options)) {}

  Status Open() { return Store::Open(options_, &store); }
  // Handles of an earlier opening are dropped.
  Status Reopen();
  Status Restart();
  void Close();
  TransactionRef Tx(const std::string& id, Status* status);
  const StoreOptions& options() const { return options_; }

  std::shared_ptr<Store> store;
  std::map<std::string, TransactionRef> handles;

 private:
  StoreOptions options_;
};

struct Act {
  std::string name;
  std::function<Status(Life*)> run;
  Code expected = Code::kOk;
  // Of an act of several calls at once: the ids of their transactions ("g0" owns key "g0" too).
  // Each of them is before or after by itself.
  std::vector<std::string> members = {};
  // Set by the act: those of `members` that were acknowledged.
  std::shared_ptr<std::vector<std::string>> acknowledged = nullptr;
  // Relative folder of a checkpoint that is there once the act is acknowledged.
  std::string checkpoint = "";
};

struct Script {
  std::string name;
  StoreOptions options;  // path is set by the suite
  std::vector<Act> acts;
  ObserveOptions observe;
};

// All of them, each without and with sync_writes.
std::vector<Script> AllScripts();
// A store with tables, a log, open and ended transactions, for damage to its files.
Script DamageScript();

// True: `actual` can be the state while or after `act` ran, from `before` to `after`.
// `is_acknowledged`: the act was answered with what it expects.
bool IsAllowed(const Act& act, const Parts& before, const Parts& after, const Parts& actual);
// The acknowledged members of `act` are in `actual` as in `after`.
bool HasAcknowledged(const Act& act, const Parts& after, const Parts& actual);

}  // namespace agenttx::torture
