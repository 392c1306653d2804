// Owns what a suite tells: counters and violations. They live in memory that a dying worker shares
// with its parent, so that an abort or a hang is one more violation and not the end of the run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace agenttx::torture {

enum Counter : int {
  kCycles,     // cases run
  kFired,      // faults that met a call
  kRefused,    // named refusals
  kRight,      // right data
  kPrefix,     // older states that the guarantees allow
  kNoticed,    // losses that were noticed
  kUnnoticed,  // losses that nothing on disk could tell of
  kActs,       // acts run
  kDistinct,   // distinct disk images opened
  kReopened,   // repairs in place
  kScripts,    // scripts whose every index was reached
  kPairs,      // pairs of keys compared
  kDecoded,    // mutated records decoded
  kEnded,      // processes that ended themselves
  kCounterCount
};

struct Shared;

class Report {
 public:
  Report();
  void Add(Counter counter, uint64_t count = 1);
  uint64_t Get(Counter counter) const;
  // Texts beyond the first 64 are counted only.
  void Violation(const std::string& text);
  uint64_t violations() const;
  // What the worker is at, for the report of its death.
  void At(const std::string& text);
  // A place that a worker leaves for the next one.
  void SetCursor(uint64_t cursor);
  uint64_t cursor() const;

  std::string Json(const std::string& suite, uint64_t seed, double seconds) const;

  // Runs `work` in a process of its own until it returns true (done). When it dies or one case
  // takes longer than 60 s, that is a violation, and a new process goes on behind the cursor.
  void InWorkers(const std::function<bool()>& work);

 private:
  Shared* shared_;
};

}  // namespace agenttx::torture
