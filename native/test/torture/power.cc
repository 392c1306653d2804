// Suite "power" (F2): the trace of an undisturbed script is cut at every call, and what was not
// synced is kept, dropped, torn or reordered. Oracle: with sync_writes nothing acknowledged is
// missing; without, the store is as it was at some moment, and a loss that the disk can tell of is
// noticed. A process that dies while the machine lives loses nothing in either mode.
#include <filesystem>
#include <set>

#include "anchor.h"
#include "disk_image.h"
#include "reference.h"
#include "suites.h"
#include "test_case.h"

namespace agenttx::torture {
namespace {

constexpr int kSeedsPerCut = 3;

uint64_t HashOf(const Tree& tree) {
  uint64_t hash = 1469598103934665603ull;
  const auto mix = [&](std::string_view text) {
    hash = (hash ^ std::hash<std::string_view>()(text)) * 1099511628211ull;
  };
  for (const std::string& folder : tree.folders) mix(folder);
  for (const auto& [path, bytes] : tree.files) {
    mix(path);
    mix(bytes);
  }
  return hash;
}

class PowerScript {
 public:
  PowerScript(const Run& run, const Script& script, const std::string& folder)
      : run_(run), script_(script), folder_(folder) {
    run_.report->At(script.name + ", undisturbed");
    reference_ = RunReference(script, folder + "/case");
  }

  // Cuts from call `cut` on. False: time is up.
  bool CutFrom(uint64_t cut, uint64_t cursor_base) {
    Disk disk;
    for (uint64_t i = 0; i < cut; i++) disk.Apply(reference_.trace[i]);
    for (; cut <= reference_.trace.size(); cut++) {
      if (run_.is_over()) return false;
      run_.report->SetCursor(cursor_base | cut);
      for (const Loss loss : kLosses) {
        const bool is_random = loss == Loss::kTorn || loss == Loss::kReorder;
        for (int i = 0; i < (is_random ? kSeedsPerCut : 1); i++) {
          auto random = RandomOf(run_.seed, (cursor_base | cut) * 8 + static_cast<uint64_t>(i));
          Judge(disk.After(loss, &random), loss, cut);
        }
      }
      if (cut < reference_.trace.size()) disk.Apply(reference_.trace[cut]);
    }
    return true;
  }

 private:
  void Violate(const std::string& text) { run_.report->Violation(name_ + ": " + text); }

  // How many acts were answered, and how many begun, before call `cut`.
  size_t CountAt(const std::vector<size_t>& marks, uint64_t cut, bool is_begun) const {
    size_t count = 0;
    while (count < marks.size() && (is_begun ? marks[count] < cut : marks[count] <= cut)) count++;
    return count;
  }

  void Judge(const Tree& tree, Loss loss, uint64_t cut) {
    name_ = script_.name + ", " + NameOf(loss) + " at call " + std::to_string(cut) + ", seed " +
            std::to_string(run_.seed);
    run_.report->At(name_);
    run_.report->Add(kCycles);
    const size_t done = CountAt(reference_.done_at, cut, false);
    const size_t begun = std::max(done, CountAt(reference_.started_at, cut, true));
    // The same image, no act further: judged already.
    if (!judged_.insert(HashOf(tree) ^ (done << 32 | begun) * 0x9E3779B97F4A7C15ull).second) {
      return run_.report->Add(kRight);
    }
    run_.report->Add(kDistinct);
    const std::string image = folder_ + "/image";
    WriteTree(tree, image);
    if (loss != Loss::kNone) MoveToAnotherBoot(image + "/store");
    const AnchorState anchor = AnchorOf(image);
    StoreOptions options = script_.options;
    options.path = image + "/store";
    std::shared_ptr<Store> store;
    const Status opened = Store::Open(options, &store);
    Parts actual;
    const Status seen = opened.ok() ? Observe(store.get(), script_.observe, &actual) : opened;
    if (!seen.ok()) {
      JudgeRefusal(seen, loss);
    } else {
      JudgeState(actual, loss, done, begun);
      JudgeWarning(actual, anchor, store->warnings(), done, loss);
    }
    if (store != nullptr) (void)store->Close();
    JudgeCheckpoints(image, done);
  }

  static AnchorState AnchorOf(const std::string& image) {
    const std::string path = image + "/store/ANCHOR";
    std::optional<AnchorState> state;
    if (!std::filesystem::exists(path)) return {};
    Anchor anchor(path);
    const Status status = anchor.Read(&state);
    return status.ok() ? state.value_or(AnchorState()) : AnchorState();
  }

  // Pages out of order look like damage and may be refused as such. All else has to open.
  void JudgeRefusal(const Status& status, Loss loss) {
    const bool is_named =
        status.code() == Code::kStoreCorrupt || status.code() == Code::kStoreBehindAnchor;
    run_.report->Add(kRefused);
    if (loss == Loss::kReorder && is_named) return;
    Violate(std::string("the store answers ") + test::NameOf(status.code()) + ": " +
            status.message());
  }

  void JudgeState(const Parts& actual, Loss loss, size_t done, size_t begun) {
    static const Parts fresh = {{"audit", ""}, {"commit", "0"}};
    const bool must_keep = loss == Loss::kNone || script_.options.sync_writes;
    const auto state = [&](size_t count) -> const Parts& {
      return count == 0 ? fresh : reference_.after[count - 1];
    };
    for (size_t count = must_keep ? done : 0; count <= begun; count++) {
      if (actual != state(count)) continue;
      return run_.report->Add(count >= done ? kRight : kPrefix);
    }
    // Acts of several calls at once leave any of them done.
    for (size_t act = must_keep && done > 0 ? done - 1 : 0; act < begun; act++) {
      if (script_.acts[act].members.empty()) continue;
      if (!IsAllowed(script_.acts[act], state(act), state(act + 1), actual)) continue;
      const bool is_whole = act >= done;
      if (must_keep && !is_whole) continue;
      return run_.report->Add(is_whole ? kRight : kPrefix);
    }
    Violate("what is there was never the state; acknowledged: " + Difference(state(done), actual));
  }

  void JudgeWarning(const Parts& actual, const AnchorState& anchor,
                    const std::vector<std::string>& warnings, size_t done, Loss loss) {
    if (loss == Loss::kNone && !warnings.empty()) Violate("a warning of no loss: " + warnings[0]);
    if (done == 0 || script_.observe.masks_versions) return;
    const uint64_t answered = std::stoull(reference_.after[done - 1].at("commit"));
    const uint64_t there = std::stoull(actual.at("commit"));
    if (there >= answered) return;
    const bool is_told = !warnings.empty();
    run_.report->Add(is_told ? kNoticed : kUnnoticed);
    if (!is_told && anchor.commit_version > there)
      Violate("the anchor tells of a loss, nobody did");
  }

  // An acknowledged copy is there, whole, after any loss.
  void JudgeCheckpoints(const std::string& image, size_t done) {
    for (size_t i = 0; i < done; i++) {
      const std::string& copy = script_.acts[i].checkpoint;
      if (copy.empty()) continue;
      Parts actual;
      const Status status = ObserveFiles(script_, image + "/" + copy, &actual);
      if (!status.ok()) {
        Violate("the copy " + copy + " answers " + status.message());
      } else if (actual != reference_.after[i]) {
        Violate("the copy " + copy + " differs: " + Difference(reference_.after[i], actual));
      }
    }
  }

  const Run& run_;
  const Script& script_;
  const std::string folder_;
  Reference reference_;
  std::set<uint64_t> judged_;
  std::string name_;
};

}  // namespace

// The cursor is the script above 32 bits of the call at which the power fails.
void RunPower(const Run& run) {
  const std::vector<Script> scripts = AllScripts();
  const std::string folder = MakeWorkFolder();
  run.report->InWorkers([&] {
    uint64_t cut = run.report->cursor() & UINT32_MAX;
    for (uint64_t at = run.report->cursor() >> 32; at < scripts.size(); at++) {
      if (scripts[at].name.find(run.filter) == std::string::npos) continue;
      PowerScript script(run, scripts[at], folder);
      if (!script.CutFrom(cut, at << 32)) return true;
      run.report->Add(kScripts);
      cut = 0;
    }
    run.report->SetCursor(static_cast<uint64_t>(scripts.size()) << 32);
    return true;
  });
  RemoveTree(folder);
}

}  // namespace agenttx::torture
