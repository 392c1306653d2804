// Owns the list of suites of the torture program.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <string>

#include "report.h"

namespace agenttx::torture {

struct Run {
  uint64_t seed = 1;
  std::string filter;  // part of a script's name
  std::chrono::steady_clock::time_point ends;
  Report* report = nullptr;

  bool is_over() const { return std::chrono::steady_clock::now() >= ends; }
};

// Each goes on behind report->cursor() and ends when all is done or time is up.
void RunFaults(const Run& run);
void RunPower(const Run& run);
void RunDamage(const Run& run);
void RunFuzz(const Run& run);
void RunMemory(const Run& run);

// Random numbers of one case: the same for a seed and a number, whatever ran before.
inline std::mt19937_64 RandomOf(uint64_t seed, uint64_t number) {
  std::seed_seq words{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
                      static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32)};
  return std::mt19937_64(words);
}

}  // namespace agenttx::torture
