// Owns folders of files as values: read from disk, written to disk.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace agenttx::torture {

struct Tree {
  std::vector<std::string> folders;          // relative, parents first
  std::map<std::string, std::string> files;  // relative path -> content

  bool operator==(const Tree& other) const = default;
};

Tree ReadTree(const std::string& root);
// The same while something may still write in the background: read until it stands still.
Tree ReadQuietTree(const std::string& root);
// Makes `root` equal to the tree; what was there before goes away.
void WriteTree(const Tree& tree, const std::string& root);
void RemoveTree(const std::string& root);
// A fresh folder in memory when there is one, else in the system's temporary folder.
std::string MakeWorkFolder();

// The verdict on a store of another boot must not depend on this boot: its anchor says another.
void MoveToAnotherBoot(const std::string& store_path);

}  // namespace agenttx::torture
