// Suite "damage" (D1): a bit is flipped, a file cut, blanked or removed, for each sort of file.
// Oracle: the right data or a refusal with a named reason; never a smaller history in silence. What
// was refused is kept: with the file put back, all is there again.
#include <algorithm>

#include "reference.h"
#include "suites.h"
#include "test_case.h"
#include "tree.h"

namespace agenttx::torture {
namespace {

enum class Damage { kFlip, kCut, kBlank, kRemove };
const char* NameOf(Damage damage) {
  static const char* const names[] = {"flip", "cut", "blank", "remove"};
  return names[static_cast<int>(damage)];
}

// Sorts of files by what their paths hold.
constexpr const char* kSorts[] = {".log",     ".sst",   "MANIFEST", "CURRENT",
                                  "OPTIONS-", "ANCHOR", "FORMAT"};

class DamageRun {
 public:
  DamageRun(const Run& run, const std::string& folder)
      : run_(run), folder_(folder), script_(DamageScript()) {
    run.report->At("the store to be damaged");
    reference_ = RunReference(script_, folder + "/case");
    whole_ = ReadTree(folder + "/case/store");
    for (const char* const sort : kSorts) {
      if (PathsOf(sort).empty()) throw std::runtime_error(std::string("no file of sort ") + sort);
    }
  }

  void Case(uint64_t number) {
    auto random = RandomOf(run_.seed, number);
    const std::vector<std::string> paths = PathsOf(kSorts[number % std::size(kSorts)]);
    const std::string path = paths[random() % paths.size()];
    // First of all one file of each sort is removed.
    const bool is_removed = number < std::size(kSorts) || random() % 16 == 0;
    const Damage damage = is_removed ? Damage::kRemove : static_cast<Damage>(random() % 3);
    Tree tree = whole_;
    const std::string what = Spoil(&tree, path, damage, &random);
    name_ = path + ", " + what + " (seed " + std::to_string(run_.seed) + ", case " +
            std::to_string(number) + ")";
    run_.report->At(name_);
    run_.report->Add(kCycles);
    const std::string store = folder_ + "/damaged";
    WriteTree(tree, store);
    Parts actual;
    const Status status = ObserveFiles(script_, store, &actual);
    if (!status.ok()) {
      JudgeRefusal(status, store, path);
      if (random() % 4 == 0) JudgeSalvage(tree);
      return;
    }
    JudgeState(actual);
  }

 private:
  void Violate(const std::string& text) { run_.report->Violation(name_ + ": " + text); }
  const Parts& expected() const { return reference_.after.back(); }

  std::vector<std::string> PathsOf(const std::string& sort) const {
    std::vector<std::string> paths;
    for (const auto& [path, bytes] : whole_.files) {
      if (path.find(sort) != std::string::npos && !bytes.empty()) paths.push_back(path);
    }
    return paths;
  }

  static bool IsLog(const std::string& path) {
    return path.find("MANIFEST") != std::string::npos || path.ends_with(".log");
  }

  // A byte of the header of one of the first records: headers are small, and steer all reading.
  static size_t HeaderByteOf(const std::string& bytes, std::mt19937_64* random) {
    constexpr size_t kHeaderBytes = 7;
    std::vector<size_t> headers;
    for (size_t at = 0; at + kHeaderBytes <= std::min<size_t>(bytes.size(), 32768);) {
      headers.push_back(at);
      const auto low = static_cast<uint8_t>(bytes[at + 4]);
      const auto high = static_cast<uint8_t>(bytes[at + 5]);
      at += kHeaderBytes + (low | static_cast<size_t>(high) << 8);
    }
    return headers.empty() ? 0 : headers[(*random)() % headers.size()] + (*random)() % kHeaderBytes;
  }

  static std::string Spoil(Tree* tree, const std::string& path, Damage damage,
                           std::mt19937_64* random) {
    std::string& bytes = tree->files.at(path);
    const size_t at = damage == Damage::kFlip && (*random)() % 4 == 0 && IsLog(path)
                          ? HeaderByteOf(bytes, random)
                          : (*random)() % bytes.size();
    if (damage == Damage::kRemove) {
      tree->files.erase(path);
    } else if (damage == Damage::kCut) {
      bytes.resize(at);
    } else if (damage == Damage::kFlip) {
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << (*random)() % 8));
    } else {
      static constexpr size_t kSizes[] = {16, 512, 4096, 32768};
      const size_t size = kSizes[(*random)() % std::size(kSizes)];
      const size_t begin = at - at % size;
      const size_t end = std::min(begin + size, bytes.size());
      std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                bytes.begin() + static_cast<std::ptrdiff_t>(end), '\0');
    }
    return std::string(NameOf(damage)) + " at " + std::to_string(at);
  }

  void JudgeRefusal(const Status& status, const std::string& store, const std::string& path) {
    run_.report->Add(kRefused);
    const bool is_named = status.code() == Code::kStoreCorrupt ||
                          status.code() == Code::kStoreBehindAnchor ||
                          status.code() == Code::kFormatTooNew;
    if (!is_named) Violate(std::string(test::NameOf(status.code())) + ": " + status.message());
    Tree kept = ReadTree(store);
    kept.files[path] = whole_.files.at(path);
    WriteTree(kept, store);
    Parts actual;
    const Status again = ObserveFiles(script_, store, &actual);
    // What is left of a log is taken over before the anchor is compared: its lost end does not fit
    // any more, and the store goes on saying so (docs/guarantees.md).
    const bool is_behind = status.code() == Code::kStoreBehindAnchor;
    if (is_behind && again.code() == Code::kStoreBehindAnchor) return;
    if (!again.ok()) {
      Violate("it was refused (" + status.message() + "), and with the file put back it answers " +
              again.message());
    } else if (actual != expected()) {
      Violate("it was refused, and with the file put back it differs: " +
              Difference(expected(), actual));
    }
  }

  void JudgeState(const Parts& actual) {
    if (actual == expected()) return run_.report->Add(kRight);
    // The anchor covers commits and the store's chain, not steps after the last of them.
    for (const Parts& earlier : reference_.after) {
      const bool is_covered = earlier.at("commit") == expected().at("commit") &&
                              earlier.at("audit") == expected().at("audit");
      if (is_covered && actual == earlier) return run_.report->Add(kPrefix);
    }
    Violate("silently other data: " + Difference(expected(), actual));
  }

  // Salvage may lose, and says so.
  void JudgeSalvage(const Tree& tree) {
    const std::string path = folder_ + "/salvaged";
    WriteTree(tree, path);
    StoreOptions options = script_.options;
    options.path = path;
    options.salvage = true;
    std::shared_ptr<Store> store;
    if (!Store::Open(options, &store).ok()) return;
    Parts actual;
    const Status seen = Observe(store.get(), script_.observe, &actual);
    const bool is_told = !store->warnings().empty();
    (void)store->Close();
    if (!seen.ok()) return;
    run_.report->Add(kNoticed);
    // A log that is gone leaves a hole, so the state may be one that never was.
    if (actual != expected() && !is_told) Violate("salvage lost something and did not say so");
  }

  const Run& run_;
  const std::string folder_;
  const Script script_;
  Reference reference_;
  Tree whole_;
  std::string name_;
};

}  // namespace

// The cursor is the number of the case.
void RunDamage(const Run& run) {
  const std::string folder = MakeWorkFolder();
  run.report->InWorkers([&] {
    DamageRun damage(run, folder);
    for (uint64_t number = run.report->cursor(); !run.is_over(); number++) {
      run.report->SetCursor(number);
      damage.Case(number);
    }
    return true;
  });
  RemoveTree(folder);
}

}  // namespace agenttx::torture
