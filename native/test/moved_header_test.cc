// Goal: the numbers of a header that a step moved are found again, though t/ is not written with
// every step (H1, H2). Method: reopen after steps, restores and payloads, and compare.
#include "agenttx/store.h"
#include "test_store.h"

using namespace agenttx;
using namespace agenttx::test;

namespace {

BatchBuilder AuditedStep(uint32_t step) {
  return BatchBuilder().Put("k" + std::to_string(step), "v").Audit("step " + std::to_string(step));
}

std::string Described(const Header& header) {
  return std::to_string(header.owner) + " " + std::to_string(header.attempt) + " " +
         std::to_string(header.step) + " " + std::to_string(header.snapshot) + " " + header.payload;
}

// What a list says and what a new handle says must be what memory said before the store closed.
std::string Reopened(const std::string& path, const std::string& before) {
  const std::shared_ptr<Store> store = MustOpen(OptionsFor(path));
  std::vector<OpenTransaction> open;
  CHECK_OK(store->OpenTransactions(std::nullopt, 10, &open));
  CHECK_EQ(open.size(), 1u);
  CHECK_EQ(Described(open[0].header), before);
  TransactionRef tx;
  CHECK_OK(store->Attach({"", "tx"}, &tx));
  CHECK_EQ(Described(store->GetHeader(tx)), before);
  std::vector<AuditEntry> audit;
  CHECK_OK(store->ReadAudit(TransactionName{"", "tx"}, 0, 100, &audit));
  // Goes on where the chain and the journal were.
  Step(*store, tx, AuditedStep(90));
  std::vector<AuditEntry> longer;
  CHECK_OK(store->ReadAudit(TransactionName{"", "tx"}, 0, 100, &longer));
  CHECK_EQ(longer.size(), audit.size() + 1);
  CHECK_EQ(longer.back().seq, audit.size() + 1);
  const std::string all = ScanAll(*store, tx);
  Restore(*store, tx, store->GetHeader(tx).snapshot - 1);
  return all;
}

}  // namespace

TEST(StepsWithoutAPayloadAreAllThereAfterAReopen) {
  TempFolder folder;
  const std::string path = folder / "store";
  std::string before;
  {
    const std::shared_ptr<Store> store = MustOpen(OptionsFor(path));
    const TransactionRef tx = Begin(*store, "tx");
    for (uint32_t step = 1; step <= 3; step++) {
      uint64_t attempt = 0;
      CHECK_OK(store->BeginAttempt(tx, &attempt));
      Step(*store, tx, AuditedStep(step));
    }
    before = Described(store->GetHeader(tx));
    CHECK_EQ(before, "1 3 4 4 ");
  }
  CHECK_EQ(Reopened(path, before), "k1=v k2=v k3=v k90=v");
}

TEST(TheHeaderCountsAgainAfterARestoreAndAfterAPayload) {
  for (const bool restores : {true, false}) {
    TempFolder folder;
    const std::string path = folder / "store";
    std::string before;
    {
      const std::shared_ptr<Store> store = MustOpen(OptionsFor(path));
      const TransactionRef tx = Begin(*store, "tx");
      for (uint32_t step = 1; step <= 3; step++) Step(*store, tx, AuditedStep(step));
      if (restores) {
        Restore(*store, tx, 2);
      } else {
        CHECK_OK(store->Apply(tx, BatchBuilder().Payload("new"), false, {}));
      }
      before = Described(store->GetHeader(tx));
      CHECK_EQ(before, restores ? "1 0 2 2 " : "1 0 4 4 new");
    }
    CHECK_EQ(Reopened(path, before), restores ? "k1=v k90=v" : "k1=v k2=v k3=v k90=v");
  }
}

TEST(AStepAfterARestoreMovesTheHeaderOn) {
  TempFolder folder;
  const std::string path = folder / "store";
  std::string before;
  {
    const std::shared_ptr<Store> store = MustOpen(OptionsFor(path));
    const TransactionRef tx = Begin(*store, "tx");
    const TransactionRef other = Begin(*store, "ty");
    for (uint32_t step = 1; step <= 3; step++) Step(*store, tx, AuditedStep(step));
    for (uint32_t step = 1; step <= 9; step++) Step(*store, other, AuditedStep(step));
    Restore(*store, tx, 0);
    Step(*store, tx, AuditedStep(7));
    before = Described(store->GetHeader(tx));
    CHECK_OK(store->Discard(other, ""));
  }
  CHECK_EQ(Reopened(path, before), "k7=v k90=v");
}

TEST(AnEndedTransactionLeavesNoNumbersToALaterOne) {
  TempFolder folder;
  const std::string path = folder / "store";
  {
    const std::shared_ptr<Store> store = MustOpen(OptionsFor(path));
    const TransactionRef tx = Begin(*store, "gone");
    for (uint32_t step = 1; step <= 300; step++) Step(*store, tx, AuditedStep(step));
    Commit(*store, tx);
  }
  const std::shared_ptr<Store> store = MustOpen(OptionsFor(path));
  std::vector<OpenTransaction> open;
  CHECK_OK(store->OpenTransactions(std::nullopt, 10, &open));
  CHECK(open.empty());
  TransactionRef tx;
  CHECK_CODE(store->Attach({"", "gone"}, &tx), kNotFound);
}
