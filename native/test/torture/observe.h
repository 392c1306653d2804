// Owns what a store holds, read by every way there is, as named parts that two stores are compared
// by. Incarnations are left out: they differ with every opening.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agenttx/store.h"

namespace agenttx::torture {

// Name of a part -> its content. "commit" is the commit version, "key:k" a committed key,
// "tx:id" an open transaction, "records:id" its records, "audit:id" its chain, "audit" the store's.
using Parts = std::map<std::string, std::string>;

struct ObserveOptions {
  // Ids that were ever begun: their chains are read too.
  std::vector<std::string> ids;
  // Concurrent commits get their versions in any order.
  bool masks_versions = false;
};

// A status that is not OK: the store refused to read, and `parts` is what came before.
// kInternal "broken chain": an audit chain does not verify.
Status Observe(Store* store, const ObserveOptions& options, Parts* parts);

// What differs, for a report: at most a few parts, long contents cut.
std::string Difference(const Parts& expected, const Parts& actual);

}  // namespace agenttx::torture
