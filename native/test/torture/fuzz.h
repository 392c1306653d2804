// Owns the single cases of the fuzz suite.
#pragma once

#include <functional>
#include <random>
#include <string>

#include "guarded_bytes.h"

namespace agenttx::torture {

// What is wrong, and the bytes that show it.
using Complain = std::function<void(const char* what, const std::string& bytes)>;

void FuzzKeyPair(std::mt19937_64* random, const Complain& complain);
// A valid record of any sort, as it is (it must be read back) and mutated (it must be refused or
// read without leaving its bytes; what is read is written back the same).
void FuzzRecord(std::mt19937_64* random, GuardedBytes* guard, const Complain& complain);

}  // namespace agenttx::torture
