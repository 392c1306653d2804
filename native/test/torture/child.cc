// Owns forked processes; see child.h.
#include "child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <stdexcept>

namespace agenttx::torture {

int RunInChild(const std::function<int()>& body,
               const std::function<void(const std::string& what)>& on_exception) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    int code = kHasThrown;
    try {
      code = body();
    } catch (const std::exception& error) {
      on_exception(error.what());
    }
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

bool HasEndedWith(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }

}  // namespace agenttx::torture
