// Goal: records and audit chains outside of steps: retention, recovery, listing.
#include "audit_chain.h"
#include "test_store.h"

using namespace agenttx;
using namespace agenttx::test;

TEST(RecordsAreListedPerTransactionAndPerNamespace) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  for (const char* id : {"bb", "b", "a"}) {
    for (uint32_t step = 1; step <= 3; step++) {
      CHECK_OK(store.WriteRecords({"n", id},
                                  BatchBuilder().Record(RecordSpace::kSaga, step, 9, "", id)));
    }
  }
  CHECK_OK(
      store.WriteRecords({"nn", "a"}, BatchBuilder().Record(RecordSpace::kSaga, 1, 9, "", "x")));
  std::vector<RecordEntry> records;
  CHECK_OK(store.ScanRecords({"n", "b"}, false, RecordSpace::kSaga, 2, {}, 10, &records));
  CHECK_EQ(records.size(), 2u);
  CHECK_EQ(records[0].step, 2u);
  std::string seen;
  std::optional<RecordEntry> after;
  for (;;) {
    CHECK_OK(store.ScanRecords({"n", ""}, true, RecordSpace::kSaga, 0, after, 2, &records));
    if (records.empty()) break;
    for (const RecordEntry& record : records) {
      CHECK_EQ(record.value, record.tx);
      seen += record.tx + std::to_string(record.step) + " ";
    }
    after = records.back();
  }
  CHECK_EQ(seen, "a1 a2 a3 b1 b2 b3 bb1 bb2 bb3 ");
  std::optional<std::string> value;
  CHECK_OK(store.ReadRecord({"n", "a"}, RecordSpace::kSaga, 1, 9, "", &value));
  CHECK_EQ(value.value_or(""), "a");
  CHECK_OK(
      store.WriteRecords({"n", "a"}, BatchBuilder().DeleteRecord(RecordSpace::kSaga, 1, 9, "")));
  CHECK_OK(store.ReadRecord({"n", "a"}, RecordSpace::kSaga, 1, 9, "", &value));
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

TEST(ARecordIsNamedByTheFieldsOfItsSpaceOnly) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const auto read = [&](RecordSpace space) {
    std::optional<std::string> value;
    CHECK_OK(store.ReadRecord({"", "tx"}, space, 5, 6, "name", &value));
    return value.value_or("(none)");
  };
  const struct {
    RecordSpace space;
    uint32_t step;
    uint64_t seq;
    const char* name;
  } records[] = {
      {RecordSpace::kOutput, 5, 1, "x"},  {RecordSpace::kSaga, 5, 6, "x"},
      {RecordSpace::kEffect, 1, 6, "x"},  {RecordSpace::kOutbox, 1, 6, "x"},
      {RecordSpace::kLate, 1, 6, "x"},    {RecordSpace::kRequest, 1, 1, "name"},
      {RecordSpace::kMeta, 1, 1, "name"}, {RecordSpace::kTerminal, 1, 1, "x"},
  };
  for (const auto& [space, step, seq, name] : records) {
    CHECK_OK(
        store.WriteRecords({"", "tx"}, BatchBuilder().Record(space, step, seq, name, "found")));
    CHECK_EQ(read(space), "found");
  }
}

TEST(MetaRecordsBelongToNoTransaction) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  Step(store, tx, BatchBuilder().Record(RecordSpace::kMeta, 0, 0, "1", "in step"));
  CHECK_OK(store.WriteRecords({"", ""}, BatchBuilder().Record(RecordSpace::kMeta, 0, 0, "2", "")));
  CHECK_OK(store.WriteRecords({"n", ""}, BatchBuilder().Record(RecordSpace::kMeta, 0, 0, "3", "")));
  Commit(store, tx);
  for (const bool all : {false, true}) {
    for (const char* id : {"", "tx", "another"}) {
      std::vector<RecordEntry> records;
      CHECK_OK(store.ScanRecords({"", id}, all, RecordSpace::kMeta, 0, {}, 10, &records));
      CHECK_EQ(records.size(), 2u);
      CHECK_EQ(records[0].tx, "");
      CHECK_EQ(records[0].name, "1");
      CHECK_OK(store.ScanRecords({"", id}, all, RecordSpace::kMeta, 0, records[0], 10, &records));
      CHECK_EQ(records.size(), 1u);
      CHECK_EQ(records[0].name, "2");
    }
  }
  std::optional<std::string> value;
  CHECK_OK(store.ReadRecord({"", ""}, RecordSpace::kMeta, 0, 0, "1", &value));
  CHECK_EQ(value.value_or(""), "in step");
}

TEST(RecordsOfAnOpenTransactionGoThroughItsHandle) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  TransactionRef tx = Begin(store, "tx");
  const BatchBuilder batch = BatchBuilder().Record(RecordSpace::kEffect, 0, 1, "", "e").Audit("a");
  CHECK_CODE(store.WriteRecords({"", "tx"}, batch), kInvalidArgument);
  // Not in memory yet, but on disk.
  CHECK_OK(store.Reopen());
  CHECK_CODE(store.WriteRecords({"", "tx"}, batch), kInvalidArgument);
  std::vector<RecordEntry> records;
  CHECK_OK(store.ScanRecords({"", "tx"}, false, RecordSpace::kEffect, 0, {}, 10, &records));
  CHECK(records.empty());
  CHECK_OK(store.Attach({"", "tx"}, &tx));
  CHECK_OK(store.Discard(tx, ""));
  CHECK_OK(store.WriteRecords({"", "tx"}, batch));
}

TEST(OutputsAreListedOneTransactionAtATime) {
  const auto opened = NewStore();
  std::vector<RecordEntry> records;
  CHECK_CODE(opened->store->ScanRecords({"", ""}, true, RecordSpace::kOutput, 0, {}, 10, &records),
             kInvalidArgument);
}

TEST(AChainGoesOnAfterTheEndAndIsErasedOnRequest) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  CHECK_OK(store.Apply(tx, BatchBuilder().Audit("one").Audit("two"), false, {}));
  CHECK_CODE(store.WriteRecords({"", "tx"}, BatchBuilder().ChainErase()), kInvalidArgument);
  CHECK_OK(store.Discard(tx, BatchBuilder().Audit("three").StoreAudit("discarded")));
  CHECK_OK(store.WriteRecords({"", "tx"}, BatchBuilder().Audit("four")));
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
