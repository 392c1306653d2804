// Goal: what one opening of a store works on is told from what a crash left (C8). Method: several
// openings of one folder in one process.
#include "test_store.h"

using namespace agenttx;
using namespace agenttx::test;

namespace {

bool Claims(Store& store, const std::string& id, bool takes_over = false) {
  bool is_ours = false;
  CHECK_OK(store.Claim({"", id}, takes_over, &is_ours));
  return is_ours;
}

}  // namespace

TEST(AClaimGoesWithTheOpeningThatHasIt) {
  for (const bool sync_writes : {false, true}) {
    const auto opened = NewStore(sync_writes);
    Store& store = *opened->store;
    const StoreOptions options = OptionsFor(opened->folder / "store", sync_writes);
    const std::shared_ptr<Store> other = MustOpen(options);
    TransactionRef tx = Begin(store, "tx");
    CHECK(Claims(store, "tx"));
    CHECK(!Claims(*other, "tx"));
    // Attached, it is looked at, not taken up.
    CHECK_OK(other->Attach({"", "tx"}, &tx));
    CHECK(!Claims(*other, "tx"));
    CHECK_OK(store.Reopen());
    CHECK(!Claims(*other, "tx"));
    CHECK(Claims(*other, "tx", true));
    CHECK(!Claims(store, "tx"));
    CHECK_OK(other->Close());
    CHECK(Claims(store, "tx"));
  }
}

TEST(ALockIsOfOneHolderUntilItIsFreed) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const std::shared_ptr<Store> other = MustOpen(OptionsFor(opened->folder / "store"));
  const auto try_lock = [](Store& of) {
    uint64_t token = 0;
    CHECK_OK(of.TryLock("name", &token));
    return token;
  };
  const uint64_t first = try_lock(store);
  CHECK(first != 0);
  CHECK_EQ(try_lock(store), 0u);
  CHECK_EQ(try_lock(*other), 0u);
  store.Unlock("name", first);
  const uint64_t second = try_lock(*other);
  CHECK(second != 0);
  store.Unlock("name", first);  // too late: it is the other's
  CHECK_EQ(try_lock(store), 0u);
  CHECK_OK(store.Reopen());
  CHECK(try_lock(*other) != 0);
  CHECK_OK(other->Close());
  CHECK(try_lock(store) != 0);
}

TEST(AClaimEndsWithItsTransaction) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const std::shared_ptr<Store> other = MustOpen(OptionsFor(opened->folder / "store"));
  bool is_ours = false;
  CHECK_CODE(store.Claim({"", "tx"}, false, &is_ours), kNotFound);
  const TransactionRef tx = Begin(store, "tx");
  // A begin that is refused claims nothing.
  TransactionRef again;
  CHECK_CODE(other->Begin({"", "tx"}, {}, "", &again), kTransactionExists);
  CHECK(!Claims(*other, "tx"));
  CHECK_OK(store.Discard(tx, ""));
  CHECK_CODE(other->Claim({"", "tx"}, false, &is_ours), kNotFound);
  CHECK_CODE(other->Claim({"", "tx"}, true, &is_ours), kNotFound);
  CHECK_OK(store.WriteRecords({"", "tx"}, BatchBuilder().ChainErase()));
  Begin(*other, "tx");
  CHECK(Claims(*other, "tx"));
  CHECK(!Claims(store, "tx"));
}
