// Owns the list of scripts.
#include <filesystem>
#include <future>
#include <thread>

#include "script.h"
#include "test_batch.h"
#include "tree.h"

namespace agenttx::torture {
namespace {

using test::BatchBuilder;

Act Begin(const std::string& id, bool serializable = false) {
  return {"begin " + id, [=](Life* life) {
            BeginOptions options;
            options.serializable = serializable;
            const BatchBuilder batch = BatchBuilder().Payload("begun").Audit("begin " + id);
            return life->store->Begin({"", id}, options, batch, &life->handles[id]);
          }};
}

Act Apply(const std::string& id, const BatchBuilder& batch, Code expected = Code::kOk) {
  return {"apply to " + id,
          [=](Life* life) {
            Status status;
            const TransactionRef tx = life->Tx(id, &status);
            if (!status.ok()) return status;
            std::promise<Status> outcome;
            (void)life->store->Apply(tx, batch, false,
                                     [&](Status result) { outcome.set_value(std::move(result)); });
            return outcome.get_future().get();
          },
          expected};
}

// A step as the engine makes it: writes, output, snapshot, audit, next step.
Act Step(const std::string& id, uint32_t step, BatchBuilder writes) {
  writes.Record(RecordSpace::kOutput, step, 0, "", "output").Audit("step of " + id);
  return Apply(id, writes.Snapshot(step + 1).NextStep(step + 1).Payload("at the next step"));
}

Act Restore(const std::string& id, uint32_t step) {
  return {"restore " + id, [=](Life* life) {
            Status status;
            const TransactionRef tx = life->Tx(id, &status);
            if (!status.ok()) return status;
            BatchBuilder batch = BatchBuilder().NextStep(std::max(step, 1u)).Audit("restored");
            if (step == 0) batch.Snapshot(1);
            RestoreResult result;
            return life->store->Restore(tx, step, batch, &result);
          }};
}

BatchBuilder Ending(const std::string& id, const char* how) {
  return BatchBuilder()
      .Record(RecordSpace::kTerminal, 0, 0, "", how)
      .Audit(how)
      .StoreAudit(id + " " + how);
}

Act Commit(const std::string& id, Code expected = Code::kOk) {
  return {"commit " + id,
          [=](Life* life) {
            Status status;
            const TransactionRef tx = life->Tx(id, &status);
            if (!status.ok()) return status;
            CommitResult result;
            return life->store->Commit(tx, Ending(id, "COMMITTED"), &result);
          },
          expected};
}

Act Discard(const std::string& id) {
  return {"discard " + id, [=](Life* life) {
            Status status;
            const TransactionRef tx = life->Tx(id, &status);
            return status.ok() ? life->store->Discard(tx, Ending(id, "ROLLED_BACK")) : status;
          }};
}

Act Fork(const std::string& from, uint32_t step, const std::string& id) {
  return {"fork " + id, [=](Life* life) {
            return life->store->Fork({"", from}, step, {"", id}, BeginOptions(),
                                     BatchBuilder().Payload("forked").Audit("fork"),
                                     &life->handles[id]);
          }};
}

Act Records(const std::string& id, const BatchBuilder& batch) {
  return {"records of " + id, [=](Life* life) {
            return life->store->WriteRecords({"", id}, batch);
          }};
}

// A read is in memory until the next batch, so the two are one act: as a step that is run again.
Act ReadAndApply(const std::string& id, const std::string& key, const BatchBuilder& batch) {
  const Act apply = Apply(id, batch);
  return {"read " + key + " and apply to " + id, [=](Life* life) {
            Status status;
            const TransactionRef tx = life->Tx(id, &status);
            std::optional<std::string> value;
            if (status.ok()) status = life->store->Get(tx, key, true, &value);
            return status.ok() ? apply.run(life) : status;
          }};
}

Act Restart() {
  return {"restart", [](Life* life) { return life->Restart(); }};
}
Act ReopenInPlace() {
  return {"reopen", [](Life* life) { return life->Reopen(); }};
}

Act Checkpoint(const std::string& folder) {
  Act act{"checkpoint", [=](Life* life) {
            const std::filesystem::path store(life->options().path);
            const std::string path = (store.parent_path() / folder).string();
            // What a copy that failed on a broken disk could not take away again.
            if (std::filesystem::exists(path)) RemoveTree(path);
            return life->store->Checkpoint(path);
          }};
  act.checkpoint = folder;
  return act;
}

// One batch to each transaction, all in flight at once.
Act ApplyTogether(const std::vector<std::string>& ids) {
  Act act{"apply together", nullptr};
  act.members = ids;
  act.acknowledged = std::make_shared<std::vector<std::string>>();
  act.run = [ids, acknowledged = act.acknowledged](Life* life) {
    acknowledged->clear();
    std::vector<std::promise<Status>> outcomes(ids.size());
    Status worst;
    for (size_t i = 0; i < ids.size(); i++) {
      Status status;
      const TransactionRef tx = life->Tx(ids[i], &status);
      if (!status.ok()) {
        outcomes[i].set_value(status);
        continue;
      }
      const BatchBuilder batch =
          BatchBuilder().Put(ids[i], "together").Audit("together").Snapshot(2).NextStep(2);
      (void)life->store->Apply(tx, batch, false,
                               [&, i](Status result) { outcomes[i].set_value(std::move(result)); });
    }
    for (size_t i = 0; i < ids.size(); i++) {
      Status status = outcomes[i].get_future().get();
      if (status.ok()) acknowledged->push_back(ids[i]);
      if (!status.ok() && worst.ok()) worst = std::move(status);
    }
    return worst;
  };
  return act;
}

Act CommitTogether(const std::vector<std::string>& ids) {
  Act act{"commit together", nullptr};
  act.members = ids;
  act.acknowledged = std::make_shared<std::vector<std::string>>();
  act.run = [ids, acknowledged = act.acknowledged](Life* life) {
    acknowledged->clear();
    std::vector<Status> statuses(ids.size());
    std::vector<TransactionRef> handles(ids.size());
    for (size_t i = 0; i < ids.size(); i++) handles[i] = life->Tx(ids[i], &statuses[i]);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < ids.size(); i++) {
      if (!statuses[i].ok()) continue;
      threads.emplace_back([&, i] {
        CommitResult result;
        const BatchBuilder batch = BatchBuilder().Record(RecordSpace::kTerminal, 0, 0, "", "C");
        statuses[i] = life->store->Commit(handles[i], batch, &result);
      });
    }
    for (std::thread& thread : threads) thread.join();
    Status worst;
    for (size_t i = 0; i < ids.size(); i++) {
      if (statuses[i].ok()) acknowledged->push_back(ids[i]);
      if (!statuses[i].ok() && worst.ok()) worst = statuses[i];
    }
    return worst;
  };
  return act;
}

Act Open() {
  return {"open", [](Life* life) { return life->Open(); }};
}

using Acts = std::vector<Act>;
using Ids = std::vector<std::string>;

BatchBuilder Put(const std::string& key, const std::string& value) {
  return BatchBuilder().Put(key, value);
}

const std::string& Large() {
  static const std::string large(1u << 20, 'L');
  return large;
}

BatchBuilder Many(int count, const std::string& value) {
  BatchBuilder batch;
  for (int i = 0; i < count; i++) batch.Put("many/" + std::to_string(i), value);
  return batch;
}

struct Named {
  const char* name;
  Acts acts;
  Ids ids;
};

std::vector<Named> StateScripts() {
  return {
      {"create", {Open(), Restart(), ReopenInPlace()}, {}},
      {"values",
       {Open(), Begin("a"), Step("a", 1, Put("k", "1").Put("l", "")), Step("a", 2, Put("k", "2")),
        Step("a", 3, Put("big", Large())), Step("a", 4, BatchBuilder().Delete("k")), Commit("a"),
        Begin("b"), Step("b", 1, BatchBuilder().Delete("big")), Commit("b")},
       {"a", "b"}},
      {"restore",
       {Open(), Begin("a"), Step("a", 1, Put("k", "1")), Step("a", 2, Put("k", "2").Put("m", "2")),
        Step("a", 3, BatchBuilder().Delete("k")), Restore("a", 3), Step("a", 3, Put("n", "3")),
        Restore("a", 2), Restore("a", 2), Restore("a", 0), Step("a", 1, Put("k", "again")),
        Commit("a")},
       {"a"}},
      {"commits",
       {Open(), Begin("a"), Apply("a", Put("k", "1")), Commit("a"), Begin("b"),
        Apply("b", Put("k", "2").Delete("x")), Commit("b"), Begin("c"),
        Apply("c", BatchBuilder().Delete("k")), Commit("c"), Begin("d"), Apply("d", Put("k", "4")),
        Commit("d")},
       {"a", "b", "c", "d"}},
      {"conflict",
       {Open(), Begin("a"), Begin("b", true), Apply("a", Put("k", "a")),
        ReadAndApply("b", "k", Put("other", "b")), Commit("a"), Commit("b", Code::kWriteConflict),
        Discard("b")},
       {"a", "b"}},
      {"discard",
       {Open(), Begin("a"),
        Step("a", 1, Put("k", "1").Record(RecordSpace::kSaga, 1, 1, "", "undo 1")),
        Step("a", 2, Put("l", "1").Record(RecordSpace::kSaga, 2, 1, "", "undo 2")),
        Apply("a", BatchBuilder().Record(RecordSpace::kEffect, 0, 1, "", "confirmed")),
        Apply("a", BatchBuilder().DeleteRecord(RecordSpace::kSaga, 2, 1, "")),
        Apply("a", BatchBuilder().DeleteRecord(RecordSpace::kSaga, 1, 1, "")), Discard("a")},
       {"a"}},
      {"attach",
       {Open(), Begin("a"), Step("a", 1, Put("k", "1")), Restart(), Step("a", 2, Put("l", "2")),
        ReopenInPlace(), Restore("a", 2), Step("a", 2, Put("m", "3")), Restart(), Commit("a")},
       {"a"}},
      {"fork",
       {Open(), Begin("a"), Step("a", 1, Put("k", "1")), Step("a", 2, Put("k", "2").Put("l", "2")),
        Fork("a", 2, "f"), Step("f", 1, Put("m", "f")), Commit("f"),
        Commit("a", Code::kWriteConflict), Discard("a")},
       {"a", "f"}},
  };
}

std::vector<Named> OtherScripts() {
  const BatchBuilder stale =
      BatchBuilder().Fence(9, 0, 1).Put("k", "stale").Evidence("came too late");
  const Ids together = {"g0", "g1", "g2", "g3", "g4", "g5"};
  Acts group = {Open()};
  for (const std::string& id : together) group.push_back(Begin(id));
  group.push_back(ApplyTogether(together));
  group.push_back(CommitTogether(together));
  group.push_back(Restart());
  return {
      {"records",
       {Open(), Begin("a"), Apply("a", Put("k", "1")), Apply("a", stale, Code::kStaleOwner),
        Apply("a", BatchBuilder().NextOwner(2).Record(RecordSpace::kOutbox, 0, 1, "", "mail")),
        Commit("a"), Records("a", BatchBuilder().Audit("after").StoreAudit("recovered a")),
        Records("a", BatchBuilder().Record(RecordSpace::kRequest, 0, 0, "r1", "answer")),
        Records("", BatchBuilder().Record(RecordSpace::kMeta, 0, 0, "m", "1")),
        Records("a", BatchBuilder()
                         .DeleteRecord(RecordSpace::kOutbox, 0, 1, "")
                         .DeleteRecord(RecordSpace::kTerminal, 0, 0, ""))},
       {"a"}},
      {"checkpoint",
       {Open(), Begin("a"), Step("a", 1, Put("k", "1")), Commit("a"), Begin("b"),
        Step("b", 1, Put("l", "1")), Checkpoint("copy"), Commit("b"), Checkpoint("copy2"),
        Restart()},
       {"a", "b"}},
      {"group", group, together},
      {"shutdown",
       {Open(), Begin("a"), Step("a", 1, Put("k", "1")), Begin("b"), Apply("b", Put("b", "1")),
        Commit("b"), Restart(), Restart(), Discard("a"), Restart()},
       {"a", "b"}},
      // Files beside the log: a memtable of 64 KiB is full several times.
      {"flush",
       {Open(), Begin("a"), Step("a", 1, Many(40, std::string(2000, 'a'))),
        Step("a", 2, Many(40, std::string(2000, 'b'))), Commit("a"), Begin("b"),
        Step("b", 1, Many(60, std::string(2000, 'c'))), Restore("b", 1),
        Step("b", 1, Many(20, std::string(4000, 'd'))), Commit("b"), Restart(), Begin("c"),
        Apply("c", Put("last", "1")), Commit("c")},
       {"a", "b", "c"}},
      // Large enough for removal by range.
      {"ranges",
       {Open(), Begin("a"), Step("a", 1, Many(700, "1")), Step("a", 2, Many(700, "2")),
        Restore("a", 2), Commit("a"), Begin("b"), Step("b", 1, Many(700, "3")), Discard("b"),
        Begin("c"), Apply("c", Put("k", "c")), Restart(), Commit("c")},
       {"a", "b", "c"}},
  };
}

Acts DamageActs() {
  return {Open(), Begin("a"), Step("a", 1, Many(40, std::string(1500, 'a'))), Commit("a"),
          Begin("b"),
          Step("b", 1, Many(30, std::string(1500, 'b')).Record(RecordSpace::kSaga, 1, 1, "", "u")),
          Step("b", 2, Put("k", "b").Record(RecordSpace::kEffect, 0, 1, "", "confirmed")),
          Begin("c"), Apply("c", Put("c", std::string(9000, 'c'))), Commit("c"),
          Records("c", BatchBuilder().Record(RecordSpace::kMeta, 0, 0, "m", "1")), Begin("d"),
          Step("d", 1, Many(40, std::string(1500, 'd'))),
          Step("d", 2, Put("k", "d").Record(RecordSpace::kOutbox, 0, 1, "", "mail")), Commit("d"),
          Begin("e"), Apply("e", Put("k", std::string(40'000, 'e'))), Commit("e"),
          Step("b", 3, Put("l", std::string(6000, 'b'))),
          // In the newest log: the anchor alone can tell that the end of it is gone.
          Begin("f"), Apply("f", Put("f", "1")), Commit("f"), Begin("h"), Apply("h", Put("f", "2")),
          Commit("h"), Step("b", 4, Put("m", "b"))};
}

}  // namespace

Script DamageScript() {
  Script script;
  script.name = "damage";
  script.options.free_space_reserve_bytes = 0;
  script.options.block_cache_bytes = 1u << 20;
  script.options.write_buffer_bytes = 64u << 10;
  script.acts = DamageActs();
  script.observe.ids = {"a", "b", "c", "d", "e", "f", "h"};
  return script;
}

std::vector<Script> AllScripts() {
  std::vector<Named> all = StateScripts();
  for (Named& named : OtherScripts()) all.push_back(std::move(named));
  std::vector<Script> scripts;
  for (const bool sync_writes : {false, true}) {
    for (const Named& named : all) {
      Script script;
      script.name = std::string(named.name) + (sync_writes ? "+sync" : "");
      script.options.sync_writes = sync_writes;
      script.options.free_space_reserve_bytes = 0;
      script.options.block_cache_bytes = 1u << 20;
      const bool is_small = std::string(named.name) == "flush";
      script.options.write_buffer_bytes = is_small ? 64u << 10 : 4u << 20;
      script.acts = named.acts;
      script.observe.ids = named.ids;
      script.observe.masks_versions = std::string(named.name) == "group";
      scripts.push_back(std::move(script));
    }
  }
  return scripts;
}

}  // namespace agenttx::torture
