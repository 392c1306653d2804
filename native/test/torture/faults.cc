// Suite "faults" (F1, F3, F4): every call that changes or reads a file fails once, for ever, for
// lack of space or in the middle, in every script. Oracle: what was acknowledged is there, an act
// is whole or not at all, a poisoned store says so and refuses, and it heals in place.
#include <filesystem>

#include "reference.h"
#include "suites.h"
#include "test_batch.h"
#include "test_case.h"
#include "tree.h"

namespace agenttx::torture {
namespace {

class FaultCase {
 public:
  FaultCase(const Run& run, const Script& script, const Reference& reference,
            const std::string& folder, FaultKind kind, uint64_t index)
      : run_(run),
        script_(script),
        reference_(reference),
        folder_(folder),
        kind_(kind),
        life_(OptionsIn(script, folder)),
        name_(script.name + ", " + NameOf(kind) + " at " + std::to_string(index)) {
    run.report->At(name_);
    RemoveTree(folder);
    std::filesystem::create_directories(folder);
    shim_.Watch(folder);
    shim_.FailAt(kind, index);
  }

  // False: the index was beyond all calls, so there is nothing behind it.
  bool Execute() {
    for (size_t i = 0; i < script_.acts.size(); i++) {
      const Status status = script_.acts[i].run(&life_);
      run_.report->Add(kActs);
      if (status.code() == script_.acts[i].expected) continue;
      // Of an act of several the others may go on; the rest of the script is not for halves.
      const bool is_one = script_.acts[i].members.empty();
      if (!Survive(&i, status) || !is_one) return End(false);
    }
    return End(true);
  }

 private:
  static StoreOptions OptionsIn(const Script& script, const std::string& folder) {
    StoreOptions options = script.options;
    options.path = folder + "/store";
    return options;
  }

  void Violate(const std::string& text) { run_.report->Violation(name_ + ": " + text); }

  const Parts& StateBefore(size_t act) const {
    static const Parts fresh = {{"audit", ""}, {"commit", "0"}};
    return act == 0 ? fresh : reference_.after[act - 1];
  }

  // Act `*i` failed. Heals, compares, and sets `*i` to the last act that is done.
  bool Survive(size_t* i, const Status& failure) {
    const Act& act = script_.acts[*i];
    const std::string what = act.name + " answered " + test::NameOf(failure.code());
    if (!shim_.has_fired()) {
      Violate(what + " without a fault: " + failure.message());
      return false;
    }
    // The disk works again after the first failure.
    if (++failures_ > 2) {
      Violate(what + " again on a disk that works: " + failure.message());
      return false;
    }
    if (failure.message().empty()) Violate(what + " without a reason");
    const bool was_open = life_.store != nullptr;
    const bool is_poisoned = was_open && CheckPoison(what);
    if (!Heal(what)) return false;
    Parts actual;
    const Status seen = ObserveCopy(script_, life_.options().path, folder_ + "-copy", &actual);
    if (!seen.ok()) {
      Violate(what + ", then the healed store cannot be read: " + seen.message());
      return false;
    }
    const Parts& before = StateBefore(*i);
    const Parts& after = reference_.after[*i];
    if (!IsAllowed(act, before, after, actual) || !HasAcknowledged(act, after, actual)) {
      Violate(what + ", and left neither before nor after: " + Difference(before, actual));
      return false;
    }
    const bool is_applied = actual == after && before != after;
    const bool may_apply =
        is_poisoned || failure.code() == Code::kOutcomeUnknown || !was_open || !act.members.empty();
    if (is_applied && !may_apply) Violate(what + ", said nothing was written, and it was");
    // Who commits has to know that it may have happened (S10).
    const bool is_told =
        act.name.rfind("commit", 0) != 0 || failure.code() == Code::kOutcomeUnknown;
    if (is_applied && !is_told) Violate(what + ", and it was committed");
    run_.report->Add(kReopened);
    if (!is_applied && act.members.empty()) *i -= 1;  // goes on with this act again
    return true;
  }

  // A poisoned store refuses every write, whether or not the disk works again, and reads.
  bool CheckPoison(const std::string& what) {
    Stats stats;
    if (!life_.store->GetStats(&stats).ok() || stats.poisoned.empty()) return false;
    const auto batch = test::BatchBuilder().Record(RecordSpace::kMeta, 0, 0, "poison", "p");
    const Status write = life_.store->WriteRecords({"", ""}, batch);
    if (write.code() != Code::kStorePoisoned) {
      Violate(what + ", and the poisoned store answers a write with " + test::NameOf(write.code()) +
              " " + write.message());
    }
    std::vector<Entry> entries;
    const Status read = life_.store->ScanCommitted("", Range(), &entries);
    const bool was_reopening = read.code() == Code::kStorePoisoned;
    if (!read.ok() && !was_reopening) {
      Violate(what + ", and the poisoned store does not read: " + read.message());
    }
    return true;
  }

  bool Heal(const std::string& what) {
    const bool was_open = life_.store != nullptr;
    // On a disk that still fails it may fail, and must not do harm.
    if (was_open) (void)life_.Reopen();
    shim_.Heal();
    const Status status = was_open ? life_.Reopen() : life_.Open();
    if (!status.ok()) Violate(what + ", and the healed store does not open: " + status.message());
    return status.ok();
  }

  bool End(bool is_whole) {
    shim_.Heal();
    life_.Close();
    const bool has_fired = shim_.has_fired();
    shim_.Unwatch();
    run_.report->Add(kCycles);
    if (has_fired) run_.report->Add(kFired);
    if (!is_whole) return true;
    if (!has_fired) return false;
    Parts actual;
    const Status seen = ObserveFiles(script_, life_.options().path, &actual);
    if (!seen.ok()) {
      Violate("at the end the store cannot be read: " + seen.message());
    } else if (actual != reference_.after.back() && !script_.observe.masks_versions) {
      Violate("the end differs: " + Difference(reference_.after.back(), actual));
    } else {
      run_.report->Add(kRight);
    }
    return true;
  }

  const Run& run_;
  const Script& script_;
  const Reference& reference_;
  const std::string folder_;
  const FaultKind kind_;
  Life life_;
  const std::string name_;
  int failures_ = 0;
  DiskShim& shim_ = DiskShim::Process();
};

}  // namespace

// The cursor is a pair of script and kind above 32 bits of index; a pair is done with the first
// index behind its last call.
void RunFaults(const Run& run) {
  const std::vector<Script> scripts = AllScripts();
  const std::string folder = MakeWorkFolder();
  constexpr uint64_t kKinds = std::size(kFaultKinds);
  run.report->InWorkers([&] {
    uint64_t index = std::max<uint64_t>(run.report->cursor() & UINT32_MAX, 1);
    for (uint64_t pair = run.report->cursor() >> 32; pair < scripts.size() * kKinds; pair++) {
      const Script& script = scripts[pair / kKinds];
      if (script.name.find(run.filter) == std::string::npos) continue;
      const FaultKind kind = kFaultKinds[pair % kKinds];
      run.report->At(script.name + ", undisturbed");
      const Reference reference = RunReference(script, folder + "/case");
      for (;; index++) {
        if (run.is_over()) return true;
        run.report->SetCursor(pair << 32 | index);
        if (!FaultCase(run, script, reference, folder + "/case", kind, index).Execute()) break;
      }
      run.report->Add(kScripts);
      index = 1;
    }
    run.report->SetCursor(scripts.size() * kKinds << 32);
    return true;
  });
  RemoveTree(folder);
}

}  // namespace agenttx::torture
