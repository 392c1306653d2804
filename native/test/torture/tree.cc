// Owns reading and writing folders; see tree.h.
#include "tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "anchor.h"

namespace agenttx::torture {
namespace fs = std::filesystem;
namespace {

std::string ReadFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw std::runtime_error("cannot read " + path);
  std::string bytes;
  struct stat info {};
  if (fstat(fd, &info) == 0) bytes.resize(static_cast<size_t>(info.st_size));
  const ssize_t got = pread(fd, bytes.data(), bytes.size(), 0);
  close(fd);
  bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return bytes;
}

void WriteFile(const std::string& path, const std::string& bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) throw std::runtime_error("cannot write " + path);
  const bool is_whole =
      pwrite(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  close(fd);
  if (!is_whole) throw std::runtime_error("cannot write all of " + path);
}

}  // namespace

Tree ReadTree(const std::string& root) {
  Tree tree;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string relative = fs::path(entry.path()).lexically_relative(root).string();
    if (entry.is_directory()) {
      tree.folders.push_back(relative);
    } else if (entry.path().filename() != "LOCK") {
      tree.files[relative] = ReadFile(entry.path().string());
    }
  }
  std::sort(tree.folders.begin(), tree.folders.end());
  return tree;
}

Tree ReadQuietTree(const std::string& root) {
  for (int attempt = 0; attempt < 200; attempt++) {
    try {
      Tree tree = ReadTree(root);
      if (tree == ReadTree(root)) return tree;
    } catch (const std::runtime_error&) {
      // A file went away between its listing and its reading.
    }
    usleep(5000);
  }
  throw std::runtime_error("the files of the store do not come to rest");
}

void WriteTree(const Tree& tree, const std::string& root) {
  RemoveTree(root);
  fs::create_directories(root);
  for (const std::string& folder : tree.folders) fs::create_directories(root + "/" + folder);
  for (const auto& [path, bytes] : tree.files) WriteFile(root + "/" + path, bytes);
}

void RemoveTree(const std::string& root) {
  std::error_code ignored;
  fs::remove_all(root, ignored);
}

std::string MakeWorkFolder() {
  const std::string base =
      access("/dev/shm", W_OK) == 0 ? "/dev/shm" : fs::temp_directory_path().string();
  std::string pattern = base + "/agenttx-torture-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot create a folder");
  return pattern;
}

void MoveToAnotherBoot(const std::string& store_path) {
  const std::string path = store_path + "/ANCHOR";
  if (!fs::exists(path)) return;
  Anchor anchor(path);
  std::optional<AnchorState> state;
  if (!anchor.Read(&state).ok() || !state.has_value()) return;
  state->boot_id = "another boot";
  (void)anchor.Write(*state, false);
}

}  // namespace agenttx::torture
