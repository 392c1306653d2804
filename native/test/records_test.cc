// Goal: records and audit chains outside of steps: retention, recovery, listing.
#include "audit_chain.h"
#include "test_store.h"

using namespace agenttx;
using namespace agenttx::test;

TEST(RecordsAreListedPerTransactionAndPerNamespace) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  for (const char* id : {"a", "b", "bb"}) {
    for (uint32_t step = 1; step <= 3; step++) {
      CHECK_OK(store.WriteRecords(
          {"n", id}, BatchBuilder().Record(RecordSpace::kEffect, step, 9, "name", id)));
    }
  }
  CHECK_OK(
      store.WriteRecords({"nn", "a"}, BatchBuilder().Record(RecordSpace::kEffect, 1, 9, "", "x")));
  std::vector<RecordEntry> records;
  CHECK_OK(store.ScanRecords({"n", "b"}, false, RecordSpace::kEffect, 2, {}, 10, &records));
  CHECK_EQ(records.size(), 2u);
  CHECK_EQ(records[0].step, 2u);
  size_t count = 0;
  std::optional<RecordEntry> after;
  for (;;) {
    CHECK_OK(store.ScanRecords({"n", ""}, true, RecordSpace::kEffect, 0, after, 2, &records));
    if (records.empty()) break;
    count += records.size();
    CHECK_EQ(records[0].value, records[0].tx);
    after = records.back();
  }
  CHECK_EQ(count, 9u);
  std::optional<std::string> value;
  CHECK_OK(store.ReadRecord({"n", "a"}, RecordSpace::kEffect, 1, 9, "name", &value));
  CHECK_EQ(value.value_or(""), "a");
  CHECK_OK(store.WriteRecords({"n", "a"},
                              BatchBuilder().DeleteRecord(RecordSpace::kEffect, 1, 9, "name")));
  CHECK_OK(store.ReadRecord({"n", "a"}, RecordSpace::kEffect, 1, 9, "name", &value));
  CHECK(!value.has_value());
}

TEST(EverySpaceKeepsItsRecordsApart) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  for (uint8_t space = 1; space <= 8; space++) {
    Step(store, tx,
         BatchBuilder().Record(static_cast<RecordSpace>(space), 1, 1, "n", std::to_string(space)));
  }
  for (uint8_t space = 1; space <= 8; space++) {
    std::vector<RecordEntry> records;
    CHECK_OK(
        store.ScanRecords({"", "tx"}, false, static_cast<RecordSpace>(space), 0, {}, 10, &records));
    CHECK_EQ(records.size(), 1u);
    CHECK_EQ(records[0].value, std::to_string(space));
  }
}

TEST(AChainGoesOnAfterTheEndAndIsErasedOnRequest) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  CHECK_OK(store.Apply(tx, BatchBuilder().Audit("one").Audit("two"), false, {}));
  CHECK_CODE(store.WriteRecords({"", "tx"}, BatchBuilder().ChainErase()), kInvalidArgument);
  CHECK_OK(store.WriteRecords({"", "tx"}, BatchBuilder().Audit("three")));
  CHECK_OK(store.Discard(tx, BatchBuilder().Audit("four").StoreAudit("discarded")));
  CHECK_OK(store.WriteRecords({"", "tx"}, BatchBuilder().Audit("five")));
  std::vector<AuditEntry> entries;
  CHECK_OK(store.ReadAudit(TransactionName{"", "tx"}, 0, 10, &entries));
  CHECK_EQ(entries.size(), 5u);
  ChainHead head = EmptyChain(std::string("\0\x02tx", 4));
  for (const AuditEntry& entry : entries) {
    AppendToChain(&head, entry.payload);
    CHECK_EQ(head.seq, entry.seq);
    CHECK(entry.hash == AsBytes(head.hash));
    CHECK(entry.digest == AsBytes(HashOf(entry.payload)));
  }
  CHECK_OK(store.ReadAudit(std::nullopt, 1, 10, &entries));
  CHECK_EQ(entries.size(), 1u);
  CHECK_EQ(entries[0].payload, "discarded");
  CHECK_OK(store.WriteRecords({"", "tx"}, BatchBuilder().ChainErase()));
  CHECK_OK(store.ReadAudit(TransactionName{"", "tx"}, 0, 10, &entries));
  CHECK(entries.empty());
  CHECK_CODE(store.WriteRecords({"", "nobody"}, BatchBuilder().Audit("x")), kNotFound);
}

TEST(OpenTransactionsAreListedInPages) {
  TempFolder folder;
  std::shared_ptr<Store> store = MustOpen(OptionsFor(folder / "store"));
  for (int i = 0; i < 25; i++) {
    TransactionRef tx;
    CHECK_OK(store->Begin({"n", "tx" + std::to_string(i)}, {}, BatchBuilder().Payload("p"), &tx));
  }
  CHECK_OK(store->Close());
  store = MustOpen(OptionsFor(folder / "store"));
  std::optional<TransactionName> after;
  size_t count = 0;
  for (;;) {
    std::vector<OpenTransaction> page;
    CHECK_OK(store->OpenTransactions(after, 10, &page));
    if (page.empty()) break;
    count += page.size();
    for (const OpenTransaction& open : page) {
      CHECK_EQ(open.header.payload, "p");
      CHECK(open.header.incarnation != store->incarnation());
    }
    after = page.back().name;
  }
  CHECK_EQ(count, 25u);
  Stats stats;
  CHECK_OK(store->GetStats(&stats));
  CHECK_EQ(stats.open_transactions, 25u);
}
