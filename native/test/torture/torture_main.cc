// Runs one suite on the core:
//   agenttx_torture faults|power|damage|fuzz|memory [--seconds N] [--seed S] [--from CURSOR]
//   [--script NAME]
// The last line is one JSON object; its cursor is where the next run goes on. Exit code 1: a
// promise was broken.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <stdexcept>

#include "suites.h"

namespace agenttx::torture {
namespace {

int Main(int argc, char** argv) {
  static const std::map<std::string, void (*)(const Run&)> suites = {{"faults", RunFaults},
                                                                     {"power", RunPower},
                                                                     {"damage", RunDamage},
                                                                     {"fuzz", RunFuzz},
                                                                     {"memory", RunMemory}};
  const auto suite = suites.find(argc > 1 ? argv[1] : "");
  if (suite == suites.end())
    throw std::runtime_error("name a suite: faults, power, damage, fuzz, memory");
  Report report;
  Run run;
  run.report = &report;
  uint64_t seconds = 10;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const char* const value = argv[i + 1];
    if (name == "--seconds") {
      seconds = std::strtoull(value, nullptr, 10);
    } else if (name == "--seed") {
      run.seed = std::strtoull(value, nullptr, 10);
    } else if (name == "--from") {
      report.SetCursor(std::strtoull(value, nullptr, 10));
    } else if (name == "--script") {
      run.filter = value;
    } else {
      throw std::runtime_error("unknown option " + name);
    }
  }
  const auto started = std::chrono::steady_clock::now();
  run.ends = started + std::chrono::seconds(seconds);
  suite->second(run);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  std::string json = report.Json(suite->first, run.seed, took.count());
  // Text: a number above 2^53 would be rounded by who reads it.
  json.insert(json.size() - 1, ",\"cursor\":\"" + std::to_string(report.cursor()) + "\"");
  std::cout << json << '\n';
  return report.violations() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace agenttx::torture

int main(int argc, char** argv) {
  try {
    return agenttx::torture::Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "torture: " << error.what() << '\n';
    return 2;
  }
}
