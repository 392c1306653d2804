// Owns running a piece of work in a process of its own, so that its death is seen and not shared.
#pragma once

#include <functional>
#include <string>

namespace agenttx::torture {

// The code with which a process ends whose work threw.
constexpr int kHasThrown = 1;

// Forks, runs `body`, and exits with what it returns. An exception goes to `on_exception` in the
// child. Returns what waitpid says. RocksDB's threads do not survive a fork: who uses RocksDB in
// the child must never have used it before.
int RunInChild(const std::function<int()>& body,
               const std::function<void(const std::string& what)>& on_exception);

bool HasEndedWith(int status, int code);

}  // namespace agenttx::torture
