// Owns undisturbed runs; see reference.h.
#include "reference.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "child.h"
#include "test_case.h"
#include "tree.h"

namespace agenttx::torture {

namespace {

void WriteText(std::ostream* out, const std::string& text) { *out << text.size() << ' ' << text; }

std::string ReadText(std::istream* in) {
  size_t size = 0;
  *in >> size;
  in->get();
  std::string text(size, '\0');
  in->read(text.data(), static_cast<std::streamsize>(size));
  return text;
}

}  // namespace

Status ObserveFiles(const Script& script, const std::string& store_path, Parts* parts) {
  StoreOptions options = script.options;
  options.path = store_path;
  // Synced or not, what is there is the same; a store without syncs is read faster.
  options.sync_writes = false;
  std::shared_ptr<Store> store;
  Status status = Store::Open(options, &store);
  if (!status.ok()) return status;
  status = Observe(store.get(), script.observe, parts);
  (void)store->Close();
  return status;
}

Status ObserveCopy(const Script& script, const std::string& store_path, const std::string& copy,
                   Parts* parts) {
  WriteTree(ReadQuietTree(store_path), copy);
  return ObserveFiles(script, copy, parts);
}

Reference RunReference(const Script& script, const std::string& folder) {
  DiskShim& shim = DiskShim::Process();
  RemoveTree(folder);
  std::filesystem::create_directories(folder);
  StoreOptions options = script.options;
  options.path = folder + "/store";
  Reference reference;
  std::vector<Tree> trees;
  Life life(options);
  shim.Watch(folder);
  shim.Record(true);
  for (const Act& act : script.acts) {
    reference.started_at.push_back(shim.trace_size());
    const Status status = act.run(&life);
    reference.done_at.push_back(shim.trace_size());
    if (status.code() != act.expected) {
      throw std::runtime_error(script.name + ", " + act.name + ": undisturbed it answers " +
                               test::NameOf(status.code()) + " " + status.message());
    }
    trees.push_back(ReadQuietTree(options.path));
  }
  life.Close();
  reference.trace = shim.TakeTrace();
  shim.Unwatch();
  const std::string copy = folder + "-copy";
  for (size_t i = 0; i < trees.size(); i++) {
    WriteTree(trees[i], copy);
    reference.after.emplace_back();
    const Status status = ObserveFiles(script, copy, &reference.after.back());
    if (!status.ok()) {
      throw std::runtime_error(script.name + ", after " + script.acts[i].name + ": " +
                               status.message());
    }
  }
  RemoveTree(copy);
  return reference;
}

std::vector<Parts> StatesOfReference(const Script& script, const std::string& folder) {
  const std::string path = folder + "-reference";
  const auto tell = [](const std::string& what) {
    std::fprintf(stderr, "torture: %s\n", what.c_str());
  };
  const auto write = [&] {
    const Reference reference = RunReference(script, folder);
    std::ofstream out(path, std::ios::binary);
    for (const Parts& parts : reference.after) {
      out << parts.size() << ' ';
      for (const auto& [name, content] : parts) {
        WriteText(&out, name);
        WriteText(&out, content);
      }
    }
    return out.flush() ? 0 : kHasThrown;
  };
  if (!HasEndedWith(RunInChild(write, tell), 0))
    throw std::runtime_error(script.name + " fails undisturbed");
  std::ifstream in(path, std::ios::binary);
  std::vector<Parts> after(script.acts.size());
  for (Parts& parts : after) {
    size_t count = 0;
    in >> count;
    for (size_t i = 0; i < count; i++) {
      const std::string name = ReadText(&in);
      parts[name] = ReadText(&in);
    }
  }
  if (!in) throw std::runtime_error("cannot read " + path);
  std::filesystem::remove(path);
  return after;
}

}  // namespace agenttx::torture
