// Goal: an output that stands in the audit entry of its step alone is read, listed, replaced and
// taken back like one with a record of its own (O1, O3). Method: both kinds side by side.
#include "agenttx/store.h"
#include "test_store.h"

using namespace agenttx;
using namespace agenttx::test;

namespace {

// `shared`: the audit entry has the same bytes, as a step of the engine has.
void OutputStep(Store& store, const TransactionRef& tx, uint32_t step, bool shared) {
  const std::string output = "out" + std::to_string(step);
  Step(store, tx,
       BatchBuilder()
           .Put("k", output)
           .Record(RecordSpace::kOutput, step, 0, "", output)
           .Audit(shared ? output : "other"));
}

std::string Listed(Store& store, uint32_t from = 0, uint32_t limit = 100,
                   const std::optional<RecordEntry>& after = std::nullopt) {
  std::vector<RecordEntry> outputs;
  CHECK_OK(
      store.ScanRecords({"", "tx"}, false, RecordSpace::kOutput, from, after, limit, &outputs));
  std::string all;
  for (const RecordEntry& output : outputs) {
    std::optional<std::string> value;
    CHECK_OK(store.ReadRecord({"", "tx"}, RecordSpace::kOutput, output.step, 0, "", &value));
    CHECK_EQ(value.value_or("(none)"), output.value);
    all += std::to_string(output.step) + "=" + output.value + " ";
  }
  return all;
}

}  // namespace

TEST(OutputsAreListedInOrderWhereverTheyAre) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  for (uint32_t step = 1; step <= 6; step++) OutputStep(store, tx, step, step != 3);
  CHECK_EQ(Listed(store), "1=out1 2=out2 3=out3 4=out4 5=out5 6=out6 ");
  CHECK_EQ(Listed(store, 2, 2), "2=out2 3=out3 ");
  RecordEntry after;
  after.step = 4;
  CHECK_EQ(Listed(store, 0, 100, after), "5=out5 6=out6 ");
  CHECK_EQ(Listed(store, 6, 100, after), "6=out6 ");
  after.step = UINT32_MAX;
  CHECK_EQ(Listed(store, 0, 100, after), "");
  std::optional<std::string> value;
  CHECK_OK(store.ReadRecord({"", "tx"}, RecordSpace::kOutput, 7, 0, "", &value));
  CHECK(!value.has_value());
}

TEST(AnOutputIsReplacedAndDeletedWhereverItIs) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  for (uint32_t step = 1; step <= 3; step++) OutputStep(store, tx, step, true);
  CHECK_OK(
      store.Apply(tx, BatchBuilder().Record(RecordSpace::kOutput, 1, 0, "", "new"), false, {}));
  CHECK_EQ(Listed(store), "1=new 2=out2 3=out3 ");
  CHECK_OK(store.Apply(tx, BatchBuilder().DeleteRecord(RecordSpace::kOutput, 3, 0, ""), false, {}));
  CHECK_EQ(Listed(store), "1=new 2=out2 ");
  OutputStep(store, tx, 4, true);
  CHECK_EQ(Listed(store), "1=new 2=out2 4=out4 ");
  RestoreResult result;
  CHECK_OK(store.Restore(
      tx, 3, BatchBuilder().NextStep(3).Record(RecordSpace::kOutput, 2, 0, "", "late"), &result));
  CHECK_EQ(Listed(store), "1=new 2=late ");
}

TEST(ARestoreKeepsTheOutputBeforeItsTarget) {
  TempFolder folder;
  for (const bool shared : {true, false}) {
    const std::string path = folder / (shared ? "shared" : "own");
    {
      const std::shared_ptr<Store> store = MustOpen(OptionsFor(path));
      const TransactionRef tx = Begin(*store, "tx");
      for (uint32_t step = 1; step <= 5; step++) OutputStep(*store, tx, step, shared);
      Restore(*store, tx, 3);
      CHECK_EQ(Listed(*store), "1=out1 2=out2 ");
      Restore(*store, tx, 3);
      CHECK_EQ(Listed(*store), "1=out1 2=out2 ");
      OutputStep(*store, tx, 3, shared);
    }
    const std::shared_ptr<Store> store = MustOpen(OptionsFor(path));
    CHECK_EQ(Listed(*store), "1=out1 2=out2 3=out3 ");
    TransactionRef tx;
    CHECK_OK(store->Attach({"", "tx"}, &tx));
    Restore(*store, tx, 0);
    CHECK_EQ(Listed(*store), "");
    OutputStep(*store, tx, 1, shared);
    Commit(*store, tx);
    CHECK_EQ(Listed(*store), "");
  }
}
