// Suite "memory" (A7): memory runs out at every allocation of the core, once or until the act is
// over, in every script. Oracle: an act that fails has changed nothing, in memory or on disk, and
// works when it is repeated; no exception is lost on the way. Once a write has begun, the process
// ends itself in place of an answer that could be wrong: what is on disk is then before or after.
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <new>
#include <stdexcept>

#include "allocations.h"
#include "child.h"
#include "reference.h"
#include "suites.h"
#include "test_case.h"
#include "tree.h"

namespace agenttx::torture {
namespace {

constexpr Shortage kShortages[] = {Shortage::kOnce, Shortage::kSticky};

const char* NameOf(Shortage shortage) {
  return shortage == Shortage::kOnce ? "one allocation" : "all allocations from";
}

// What a case's process leaves for its parent.
struct Trail {
  std::atomic<size_t> act;
};

constexpr uint64_t kCasesMin = 20;
constexpr int kDone = 0;
constexpr int kNothingFailed = 3;  // the number was beyond all allocations

// What a child throws, it tells; the case is then judged by its exit code.
void Tell(const std::string& what) { std::fprintf(stderr, "torture memory: %s\n", what.c_str()); }

class MemoryCase {
 public:
  MemoryCase(const Run& run, const Script& script, const std::vector<Parts>& after, Trail* trail,
             const std::string& folder, Shortage shortage, uint64_t number)
      : run_(run),
        script_(script),
        after_(after),
        trail_(trail),
        folder_(folder),
        shortage_(shortage),
        number_(number),
        name_(script.name + ", " + NameOf(shortage) + ' ' + std::to_string(number)) {}

  // False: the number was beyond all allocations.
  bool Execute() {
    trail_->act = 0;
    memory_.FailAt(shortage_, number_);
    const int status = RunInChild(
        [&] {
          run_.report->At(name_);
          std::set_terminate([] { std::abort(); });
          return Child();
        },
        Tell);
    memory_.Pause();  // it may have died while they counted
    run_.report->Add(kCycles);
    if (memory_.has_failed()) run_.report->Add(kFired);
    if (HasEndedWith(status, kNothingFailed)) return false;
    if (HasEndedWith(status, kDone)) return true;
    if (!WIFSIGNALED(status)) {
      Violate("the process exited with " + std::to_string(WEXITSTATUS(status)));
    } else if (WTERMSIG(status) == SIGABRT && memory_.has_failed()) {
      JudgeDead();
    } else {
      Violate("the process died of signal " + std::to_string(WTERMSIG(status)));
    }
    return true;
  }

 private:
  void Violate(const std::string& text) { run_.report->Violation(name_ + ": " + text); }

  StoreOptions OptionsOfCase() const {
    StoreOptions options = script_.options;
    options.path = folder_ + "/store";
    return options;
  }

  const Parts& StateBefore(size_t act) const {
    static const Parts fresh = {{"audit", ""}, {"commit", "0"}};
    return act == 0 ? fresh : after_[act - 1];
  }

  int Child() {
    RemoveTree(folder_);
    std::filesystem::create_directories(folder_);
    Life life(OptionsOfCase());
    for (size_t i = 0; i < script_.acts.size(); i++) {
      trail_->act = i;
      std::string failure;
      const bool is_right = RunAct(&life, script_.acts[i], &failure);
      run_.report->Add(kActs);
      if (is_right) continue;
      const bool is_one = script_.acts[i].members.empty();
      if (!Survive(&life, &i, failure) || !is_one) return kDone;
    }
    memory_.Heal();
    if (!memory_.has_failed()) return kNothingFailed;
    life.Close();
    Parts actual;
    const Status seen = ObserveFiles(script_, OptionsOfCase().path, &actual);
    if (!seen.ok()) {
      Violate("at the end the store cannot be read: " + seen.message());
    } else if (actual != after_.back() && !script_.observe.masks_versions) {
      Violate("the end differs: " + Difference(after_.back(), actual));
    } else {
      run_.report->Add(kRight);
    }
    return kDone;
  }

  // An exception is what the addon turns into an error that says that nothing was done.
  bool RunAct(Life* life, const Act& act, std::string* failure) {
    Status status;
    memory_.Resume();
    try {
      status = act.run(life);
      memory_.Pause();
      code_ = status.code();
      if (code_ == act.expected) return true;
      *failure = act.name + " answered " + test::NameOf(code_) + ' ' + status.message();
    } catch (const std::bad_alloc&) {
      memory_.Pause();
      code_ = Code::kResourceExhausted;
      *failure = act.name + " ran out of memory";
    }
    return false;
  }

  // Act `*i` failed. Memory is back. Compares, and sets `*i` to the last act that is done.
  bool Survive(Life* life, size_t* i, const std::string& failure) {
    const Act& act = script_.acts[*i];
    if (!memory_.has_failed()) {
      Violate(failure + ", and there was memory");
      return false;
    }
    memory_.Heal();
    if (failures_++ > 0) {
      Violate(failure + ", again, and there was memory");
      return false;
    }
    const bool was_open = life->store != nullptr;
    if (was_open && !HealPoison(life, failure)) return false;
    const Parts& before = StateBefore(*i);
    Parts actual = before;
    // The first opening may have left no store at all.
    if (*i > 0) {
      const Status seen = ObserveCopy(script_, OptionsOfCase().path, folder_ + "-copy", &actual);
      if (!seen.ok()) {
        Violate(failure + ", then the store cannot be read: " + seen.message());
        return false;
      }
    }
    const Parts& after = after_[*i];
    if (!IsAllowed(act, before, after, actual) || !HasAcknowledged(act, after, actual)) {
      Violate(failure + ", and left neither before nor after: " + Difference(before, actual));
      return false;
    }
    const bool is_applied = actual == after && before != after;
    if (is_applied && was_open && !is_poisoned_ && act.members.empty()) {
      Violate(failure + ", said nothing was written, and it was");
    }
    if (was_open && life->store != nullptr) CompareMemory(life, failure, actual);
    run_.report->Add(kReopened);
    if (!is_applied && act.members.empty()) *i -= 1;  // goes on with this act again
    return true;
  }

  bool HealPoison(Life* life, const std::string& failure) {
    if (life->store == nullptr) return true;
    Stats stats;
    const Status status = life->store->GetStats(&stats);
    is_poisoned_ = !status.ok() || !stats.poisoned.empty();
    if (!is_poisoned_) return true;
    const Status reopened = life->Reopen();
    if (!reopened.ok()) Violate(failure + ", and it does not reopen: " + reopened.message());
    return reopened.ok();
  }

  // W1: what the core has in memory is what is on disk.
  void CompareMemory(Life* life, const std::string& failure, const Parts& on_disk) {
    if (script_.observe.masks_versions) return;
    Parts in_memory;
    const Status seen = Observe(life->store.get(), script_.observe, &in_memory);
    if (!seen.ok()) {
      Violate(failure + ", then the open store cannot be read: " + seen.message());
    } else if (in_memory != on_disk) {
      Violate(failure + ", and memory differs: " + Difference(on_disk, in_memory));
    }
  }

  void JudgeDead() {
    const size_t i = trail_->act;
    const int status = RunInChild(
        [&] {
          run_.report->At(name_ + ", looked at after its end");
          LookAt(i);
          return kDone;
        },
        Tell);
    if (!HasEndedWith(status, kDone)) Violate("what it left could not be looked at");
  }

  // What act `i` left when the process ended in it: readable, and before or after.
  void LookAt(size_t i) {
    const Act& act = script_.acts[i];
    Parts actual;
    const Status seen = ObserveFiles(script_, OptionsOfCase().path, &actual);
    if (!seen.ok()) {
      Violate("ended in " + act.name + ", and cannot be read: " + seen.message());
    } else if (!IsAllowed(act, StateBefore(i), after_[i], actual)) {
      Violate("ended in " + act.name +
              " and left neither before nor after: " + Difference(StateBefore(i), actual));
    } else {
      run_.report->Add(kEnded);
      Tell(name_ + ": ended in " + act.name);
    }
  }

  const Run& run_;
  const Script& script_;
  const std::vector<Parts>& after_;
  Trail* const trail_;
  const std::string folder_;
  const Shortage shortage_;
  const uint64_t number_;
  const std::string name_;
  Code code_ = Code::kOk;
  bool is_poisoned_ = false;
  int failures_ = 0;
  Allocations& memory_ = Allocations::Process();
};

Trail* MakeTrail() {
  void* const memory =
      mmap(nullptr, sizeof(Trail), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return new (memory) Trail();
}

}  // namespace

// The cursor is a pair of script and shortage above 32 bits of the allocation's number; a pair is
// done with the first number behind its last allocation.
void RunMemory(const Run& run) {
  const std::vector<Script> scripts = AllScripts();
  const std::string folder = MakeWorkFolder();
  Trail* const trail = MakeTrail();
  constexpr uint64_t kKinds = std::size(kShortages);
  uint64_t number = std::max<uint64_t>(run.report->cursor() & UINT32_MAX, 1);
  for (uint64_t pair = run.report->cursor() >> 32; pair < scripts.size() * kKinds; pair++) {
    const Script& script = scripts[pair / kKinds];
    if (script.name.find(run.filter) == std::string::npos) continue;
    const std::vector<Parts> after = StatesOfReference(script, folder + "/case");
    for (;; number++) {
      run.report->SetCursor(pair << 32 | number);
      // On a slow machine it takes longer rather than prove little; a violation is proof enough.
      const bool has_proven = run.report->Get(kCycles) >= kCasesMin || run.report->violations() > 0;
      if (run.is_over() && has_proven) {
        RemoveTree(folder);
        return;
      }
      MemoryCase one(run, script, after, trail, folder + "/case", kShortages[pair % kKinds],
                     number);
      if (!one.Execute()) break;
    }
    run.report->Add(kScripts);
    number = 1;
  }
  run.report->SetCursor(scripts.size() * kKinds << 32);
  RemoveTree(folder);
}

}  // namespace agenttx::torture
