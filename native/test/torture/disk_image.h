// Owns what a disk holds when the power fails: the synced part, and of the rest what luck leaves.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "disk_shim.h"
#include "tree.h"

namespace agenttx::torture {

// What becomes of changes that were not synced.
enum class Loss {
  kNone,     // the process died, the machine did not
  kAll,      // all of them are gone; unsynced names too
  kTorn,     // of each file and folder a random prefix is there, the last write cut at any byte
  kReorder,  // of each file every 4 KiB page is there or not, by chance
};
inline constexpr Loss kLosses[] = {Loss::kNone, Loss::kAll, Loss::kTorn, Loss::kReorder};
const char* NameOf(Loss loss);

// The disk while a trace is replayed call by call.
class Disk {
 public:
  void Apply(const DiskOp& op);
  Tree After(Loss loss, std::mt19937_64* random) const;

 private:
  struct File {
    std::string durable;
    std::vector<DiskOp> pending;  // writes and truncations since the last sync
  };
  struct Node {
    uint64_t id = 0;  // 0: no such name
    bool is_folder = false;
  };
  using Place = std::pair<uint64_t, std::string>;  // folder and name in it
  using Names = std::map<Place, Node>;
  // Edits of a folder that happen together: a name that goes away comes last.
  using Change = std::vector<std::pair<Place, Node>>;

  Place PlaceOf(const std::string& path) const;
  Node Find(const std::string& path) const;
  void Enter(uint64_t folder, const Change& change);
  void Rename(const DiskOp& op);
  static void EnterInto(Names* names, const Change& change);
  std::string ContentOf(const File& file, Loss loss, std::mt19937_64* random) const;
  Names NamesAfter(Loss loss, std::mt19937_64* random) const;

  std::map<uint64_t, File> files_;
  Names names_;                                      // as the running process sees them
  Names durable_;                                    // as synced
  std::map<uint64_t, std::vector<Change>> pending_;  // by folder
  uint64_t folder_count_ = 0;                        // folder 0 is the root
};

}  // namespace agenttx::torture
