// Goal: a fork equals its origin at the snapshot, and conflicts with the same commits (S12).
#include "test_store.h"

using namespace agenttx;
using namespace agenttx::test;

TEST(AForkHasTheOverlayOfTheSnapshotAndLeavesTheOriginAlone) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  CommitPut(store, "base", "c", "committed");
  const TransactionRef from = Begin(store, "from");
  Step(store, from, BatchBuilder().Put("a", "1").Delete("c"));
  Step(store, from, BatchBuilder().Put("a", "2").Put("b", "2"));
  Step(store, from, BatchBuilder().Put("a", "3").Put("c", "back"));
  TransactionRef at_two;
  TransactionRef at_zero;
  TransactionRef now;
  CHECK_OK(store.Fork({"", "from"}, 2, {"", "two"}, {}, BatchBuilder().Payload("p"), &at_two));
  CHECK_OK(store.Fork({"", "from"}, 0, {"", "zero"}, {}, "", &at_zero));
  CHECK_OK(store.Fork({"", "from"}, 4, {"", "now"}, {}, "", &now));
  CHECK_EQ(ScanAll(store, at_two), "a=1");
  CHECK_EQ(store.GetHeader(at_two).payload, "p");
  CHECK_EQ(ScanAll(store, at_zero), "c=committed");
  CHECK_EQ(ScanAll(store, now), "a=3 b=2 c=back");
  Step(store, at_two, BatchBuilder().Put("a", "fork"));
  CHECK_EQ(ScanAll(store, from), "a=3 b=2 c=back");
  RestoreResult restored;
  CHECK_OK(store.Restore(at_two, 0, "", &restored));
  CHECK_EQ(ScanAll(store, at_two), "a=1");
}

TEST(AForkKeepsBaseVersionsAndEarlierReads) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  CommitPut(store, "1", "written", "1");
  CommitPut(store, "2", "read", "1");
  const TransactionRef from = Begin(store, "from");
  Get(store, from, "read", true);
  Step(store, from, BatchBuilder().Put("written", "mine"));
  TransactionRef fork;
  CHECK_OK(store.Fork({"", "from"}, 2, {"", "fork"}, {}, "", &fork));
  CommitPut(store, "3", "written", "2");
  CommitPut(store, "4", "read", "2");
  CommitResult result;
  CHECK_CODE(store.Commit(fork, "", &result), kWriteConflict);
  CHECK_EQ(result.conflict_keys.size(), 2u);
}

TEST(AForkThatCannotBeIsRefused) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef from = Begin(store, "from");
  TransactionRef fork;
  CHECK_CODE(store.Fork({"", "nobody"}, 0, {"", "f"}, {}, "", &fork), kNotFound);
  CHECK_CODE(store.Fork({"", "from"}, 7, {"", "f"}, {}, "", &fork), kSnapshotNotFound);
  CHECK_CODE(store.Fork({"", "from"}, 0, {"", "from"}, {}, "", &fork), kTransactionExists);
  CHECK_CODE(store.Fork({"", "from"}, 0, {"other", "f"}, {}, "", &fork), kInvalidArgument);
  CHECK_OK(store.Fork({"", "from"}, 0, {"", "f"}, {}, "", &fork));
}
