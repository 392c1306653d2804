// Owns failing allocations: operator new of this program, which can be told to run out of memory at
// the n-th allocation of the core. Those that RocksDB or a test makes do not count and never fail:
// whose one is, is told by the innermost frame of the stack that belongs to one of the three.
// Its state is in memory that a forked process shares with its parent.
#pragma once

#include <cstdint>

namespace agenttx::torture {

enum class Shortage : int {
  kOnce,    // one allocation fails
  kSticky,  // and all after it, until memory is back
};

class Allocations {
 public:
  static Allocations& Process();

  // From now on the allocation with this number, counted from 1, fails.
  void FailAt(Shortage shortage, uint64_t number);
  // Counts and fails nothing until Resume().
  void Pause();
  void Resume();
  // Memory is back: nothing fails any more.
  void Heal();
  bool has_failed() const;
  // Allocations of the core so far.
  uint64_t count() const;

 private:
  Allocations() = default;
};

}  // namespace agenttx::torture
