// Owns the disk after a loss of power; see disk_image.h.
#include "disk_image.h"

#include <algorithm>

namespace agenttx::torture {
namespace {

constexpr size_t kPageBytes = 4096;

std::pair<std::string, std::string> SplitPath(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

void ApplyTo(std::string* content, const DiskOp& op, size_t bytes_max) {
  if (op.kind == DiskOp::Kind::kTruncate) {
    content->resize(op.offset);
    return;
  }
  const size_t count = std::min(op.bytes.size(), bytes_max);
  if (content->size() < op.offset + count) content->resize(op.offset + count);
  content->replace(op.offset, count, op.bytes, 0, count);
}

}  // namespace

const char* NameOf(Loss loss) {
  static const char* const names[] = {"nothing lost", "all unsynced lost", "torn", "reordered"};
  return names[static_cast<int>(loss)];
}

void Disk::Apply(const DiskOp& op) {
  using Kind = DiskOp::Kind;
  switch (op.kind) {
    case Kind::kCreate:
      files_[op.inode];
      return Enter(PlaceOf(op.path).first, {{PlaceOf(op.path), {op.inode, false}}});
    case Kind::kWrite:
    case Kind::kTruncate:
      files_[op.inode].pending.push_back(op);
      return;
    case Kind::kSync: {
      File& file = files_[op.inode];
      for (const DiskOp& pending : file.pending) ApplyTo(&file.durable, pending, SIZE_MAX);
      file.pending.clear();
      return;
    }
    case Kind::kMkdir:
      return Enter(PlaceOf(op.path).first, {{PlaceOf(op.path), {++folder_count_, true}}});
    case Kind::kUnlink:
      return Enter(PlaceOf(op.path).first, {{PlaceOf(op.path), {}}});
    case Kind::kLink:
      return Enter(PlaceOf(op.other).first, {{PlaceOf(op.other), Find(op.path)}});
    case Kind::kRename:
      return Rename(op);
    case Kind::kSyncDir: {
      const uint64_t folder = op.path.empty() ? 0 : Find(op.path).id;
      for (const Change& change : pending_[folder]) EnterInto(&durable_, change);
      pending_.erase(folder);
      return;
    }
  }
}

void Disk::Rename(const DiskOp& op) {
  const Place from = PlaceOf(op.path);
  const Place to = PlaceOf(op.other);
  const Node node = Find(op.path);
  if (from.first == to.first) return Enter(to.first, {{to, node}, {from, {}}});
  Enter(to.first, {{to, node}});
  Enter(from.first, {{from, {}}});
}

Disk::Node Disk::Find(const std::string& path) const {
  const auto found = names_.find(PlaceOf(path));
  return found == names_.end() ? Node() : found->second;
}

Disk::Place Disk::PlaceOf(const std::string& path) const {
  const auto [folder, name] = SplitPath(path);
  return {folder.empty() ? 0 : Find(folder).id, name};
}

void Disk::Enter(uint64_t folder, const Change& change) {
  EnterInto(&names_, change);
  pending_[folder].push_back(change);
}

void Disk::EnterInto(Names* names, const Change& change) {
  for (const auto& [place, node] : change) {
    if (node.id == 0) {
      names->erase(place);
    } else {
      (*names)[place] = node;
    }
  }
}

std::string Disk::ContentOf(const File& file, Loss loss, std::mt19937_64* random) const {
  std::string content = file.durable;
  if (loss == Loss::kAll || file.pending.empty()) return content;
  if (loss == Loss::kTorn) {
    const size_t kept = (*random)() % (file.pending.size() + 1);
    for (size_t i = 0; i < kept; i++) {
      const bool is_torn = i + 1 == kept && (*random)() % 2 == 0;
      const size_t size = file.pending[i].bytes.size();
      ApplyTo(&content, file.pending[i], is_torn && size > 0 ? (*random)() % size : SIZE_MAX);
    }
    return content;
  }
  for (const DiskOp& op : file.pending) ApplyTo(&content, op, SIZE_MAX);
  if (loss == Loss::kNone) return content;
  for (size_t page = 0; page * kPageBytes < content.size(); page++) {
    if ((*random)() % 2 == 0) continue;
    const size_t begin = page * kPageBytes;
    for (size_t at = begin; at < std::min(begin + kPageBytes, content.size()); at++) {
      content[at] = at < file.durable.size() ? file.durable[at] : '\0';
    }
  }
  return content;
}

Disk::Names Disk::NamesAfter(Loss loss, std::mt19937_64* random) const {
  if (loss == Loss::kNone) return names_;
  Names names = durable_;
  if (loss == Loss::kAll) return names;
  for (const auto& [folder, changes] : pending_) {
    const size_t kept = (*random)() % (changes.size() + 1);
    for (size_t i = 0; i < kept; i++) EnterInto(&names, changes[i]);
  }
  return names;
}

Tree Disk::After(Loss loss, std::mt19937_64* random) const {
  const Names names = NamesAfter(loss, random);
  Tree tree;
  std::vector<std::pair<uint64_t, std::string>> folders = {{0, ""}};
  for (size_t i = 0; i < folders.size(); i++) {
    const auto [id, prefix] = folders[i];
    for (auto at = names.lower_bound({id, ""}); at != names.end() && at->first.first == id; at++) {
      const std::string path = prefix + at->first.second;
      if (at->second.is_folder) {
        tree.folders.push_back(path);
        folders.emplace_back(at->second.id, path + "/");
      } else if (at->first.second != "LOCK") {
        tree.files[path] = ContentOf(files_.at(at->second.id), loss, random);
      }
    }
  }
  return tree;
}

}  // namespace agenttx::torture
