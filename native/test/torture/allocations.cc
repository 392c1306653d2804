// Owns operator new of this program; see allocations.h.
#include "allocations.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unwind.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace agenttx::torture {
namespace {

struct State {
  std::atomic<bool> is_counting;
  std::atomic<bool> has_failed;
  std::atomic<int> shortage;
  std::atomic<uint64_t> fail_at;  // 0: never
  std::atomic<uint64_t> count;
};

enum class Owner : uintptr_t { kUnknown, kNobody, kCore, kOther };

// Set by the first caller of Process(); no allocation counts before.
std::atomic<State*> shared_state{nullptr};

bool StartsWith(const char* text, const char* start) {
  return std::strncmp(text, start, std::strlen(start)) == 0;
}

// By the mangled name: a template of std that is made for one of ours belongs to nobody.
Owner OwnerOfName(const char* name) {
  for (const char* const prefix : {"_ZN", "_ZNK"}) {
    if (!StartsWith(name, prefix)) continue;
    const char* const scope = name + std::strlen(prefix);
    if (StartsWith(scope, "7rocksdb")) return Owner::kOther;
    if (!StartsWith(scope, "7agenttx")) continue;
    const char* const inner = scope + std::strlen("7agenttx");
    const bool is_test = StartsWith(inner, "7torture") || StartsWith(inner, "4test");
    return is_test ? Owner::kOther : Owner::kCore;
  }
  return Owner::kNobody;
}

// Functions that the linker does not export have no name here and belong to whoever called them.
Owner OwnerOfCode(uintptr_t address) {
  constexpr size_t kSlots = 1u << 16;
  // An address with its owner in the two lowest bits of a shifted word: one atomic each.
  static std::atomic<uintptr_t> known[kSlots];
  std::atomic<uintptr_t>& slot = known[(address ^ address >> 16) % kSlots];
  const uintptr_t found = slot.load(std::memory_order_relaxed);
  if (found >> 2 == address) return static_cast<Owner>(found & 3);
  Dl_info info;
  const bool is_named =
      dladdr(reinterpret_cast<void*>(address), &info) != 0 && info.dli_sname != nullptr;
  const Owner owner = is_named ? OwnerOfName(info.dli_sname) : Owner::kNobody;
  slot.store(address << 2 | static_cast<uintptr_t>(owner), std::memory_order_relaxed);
  return owner;
}

_Unwind_Reason_Code Visit(_Unwind_Context* context, void* owner) {
  // The address behind the call may be that of the next function.
  const Owner found = OwnerOfCode(_Unwind_GetIP(context) - 1);
  if (found == Owner::kNobody) return _URC_NO_REASON;
  *static_cast<Owner*>(owner) = found;
  return _URC_END_OF_STACK;
}

bool IsOfCore() {
  Owner owner = Owner::kNobody;
  _Unwind_Backtrace(Visit, &owner);
  return owner == Owner::kCore;
}

// True: this allocation has to fail.
bool Counts() {
  State* const state = shared_state.load(std::memory_order_acquire);
  if (state == nullptr || !state->is_counting.load(std::memory_order_relaxed)) return false;
  // Looking at the stack may allocate.
  static thread_local bool is_looking = false;
  if (is_looking) return false;
  is_looking = true;
  const bool is_of_core = IsOfCore();
  is_looking = false;
  if (!is_of_core) return false;
  const uint64_t number = ++state->count;
  const uint64_t fail_at = state->fail_at;
  if (fail_at == 0 || number < fail_at) return false;
  const bool is_sticky = state->shortage == static_cast<int>(Shortage::kSticky);
  if (number > fail_at && !is_sticky) return false;
  state->has_failed = true;
  return true;
}

void* Allocate(size_t size, size_t alignment) noexcept {
  if (Counts()) return nullptr;
  if (size == 0) size = 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* AllocateOrThrow(size_t size, size_t alignment) {
  void* const memory = Allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

State& Shared() { return *shared_state.load(std::memory_order_acquire); }

}  // namespace

Allocations& Allocations::Process() {
  static Allocations allocations;
  if (shared_state.load(std::memory_order_acquire) == nullptr) {
    void* const memory =
        mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    shared_state.store(new (memory) State(), std::memory_order_release);
  }
  return allocations;
}

void Allocations::FailAt(Shortage shortage, uint64_t number) {
  State& state = Shared();
  state.is_counting = false;
  state.has_failed = false;
  state.shortage = static_cast<int>(shortage);
  state.count = 0;
  state.fail_at = number;
}
void Allocations::Pause() { Shared().is_counting = false; }
void Allocations::Resume() { Shared().is_counting = true; }
void Allocations::Heal() { Shared().fail_at = 0; }
bool Allocations::has_failed() const { return Shared().has_failed; }
uint64_t Allocations::count() const { return Shared().count; }

}  // namespace agenttx::torture

// The forms that are not here are those of the library, which call these.
void* operator new(size_t size) { return agenttx::torture::AllocateOrThrow(size, 0); }
void* operator new[](size_t size) { return agenttx::torture::AllocateOrThrow(size, 0); }
void* operator new(size_t size, std::align_val_t alignment) {
  return agenttx::torture::AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return agenttx::torture::AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
