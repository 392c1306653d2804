// Owns the undisturbed run of a script: what the store holds after each act, and the trace of
// calls.
#pragma once

#include <string>
#include <vector>

#include "disk_shim.h"
#include "script.h"

namespace agenttx::torture {

struct Reference {
  std::vector<Parts> after;        // [i]: after act i
  std::vector<size_t> started_at;  // [i]: length of the trace when act i began
  std::vector<size_t> done_at;     // [i]: length of the trace when act i was answered
  std::vector<DiskOp> trace;
};

// Runs the script in `folder`, which holds the store "store" and checkpoints. Throws when an act
// does not answer as expected.
Reference RunReference(const Script& script, const std::string& folder);

// `after` of an undisturbed run, made in a process of its own and brought back in a file beside
// `folder`: for a caller that forks (child.h).
std::vector<Parts> StatesOfReference(const Script& script, const std::string& folder);

// What the store in `store_path` holds, seen on a copy of its files.
Status ObserveCopy(const Script& script, const std::string& store_path, const std::string& copy,
                   Parts* parts);
// The same on the files themselves.
Status ObserveFiles(const Script& script, const std::string& store_path, Parts* parts);

}  // namespace agenttx::torture
