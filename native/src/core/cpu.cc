// Owns the CPU check; see cpu.h.
#include "cpu.h"

namespace agenttx {

Status CheckCpu() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("pclmul")) {
    return {Code::kInternal,
            "This CPU has no SSE4.2 or no PCLMUL instructions, which the storage needs (any x86-64 "
            "CPU made since 2011 has them). Nothing was opened."};
  }
#endif
  return Status::Ok();
}

}  // namespace agenttx
