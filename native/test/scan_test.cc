// Goal: scans merge overlay and committed state in byte order (S5). Method: a model, both ways.
#include <map>

#include "test_store.h"

using namespace agenttx;
using namespace agenttx::test;

TEST(AScanMergesBothSidesForwardAndBackward) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  CommitPut(store, "1", "a", "c");
  CommitPut(store, "2", "c", "c");
  CommitPut(store, "3", "d", "c");
  const TransactionRef tx = Begin(store, "tx");
  Step(store, tx, BatchBuilder().Put("b", "o").Put("c", "o").Delete("d").Put("e", "o"));
  CHECK_EQ(ScanAll(store, tx), "a=c b=o c=o e=o");
  CHECK_EQ(ScanAll(store, tx, true), "e=o c=o b=o a=c");
  Range range;
  range.start = "b";
  range.end = "e";
  std::vector<Entry> entries;
  CHECK_OK(store.Scan(tx, range, &entries));
  CHECK_EQ(Joined(entries), "b=o c=o");
  range.reverse = true;
  range.limit = 1;
  CHECK_OK(store.Scan(tx, range, &entries));
  CHECK_EQ(Joined(entries), "c=o");
  range.start = "z";
  CHECK_OK(store.Scan(tx, range, &entries));
  CHECK(entries.empty());
  CHECK_OK(store.ScanCommitted("", {}, &entries));
  CHECK_EQ(Joined(entries), "a=c c=c d=c");
}

TEST(RandomScansFitTheModel) {
  std::mt19937_64 random(Seed());
  const auto opened = NewStore();
  Store& store = *opened->store;
  std::map<std::string, std::string> model;
  const auto random_key = [&] {
    std::string key;
    for (size_t i = 1 + random() % 3; i > 0; i--) key.push_back("\x00\x01/a\xFF"[random() % 5]);
    return key;
  };
  for (int i = 0; i < 60; i++) {
    const std::string key = random_key();
    CommitPut(store, "c" + std::to_string(i), key, "c");
    model[key] = "c";
  }
  const TransactionRef neighbour = Begin(store, "tx-");
  Step(store, neighbour, BatchBuilder().Put("\x01", "neighbour"));
  const TransactionRef tx = Begin(store, "tx");
  for (int i = 0; i < 60; i++) {
    const std::string key = random_key();
    const bool deletes = random() % 3 == 0;
    Step(store, tx, deletes ? BatchBuilder().Delete(key) : BatchBuilder().Put(key, "o"));
    if (deletes) model.erase(key);
    if (!deletes) model[key] = "o";
  }
  for (int i = 0; i < 500; i++) {
    Range range;
    if (random() % 2) range.start = random_key();
    if (random() % 2) range.end = random_key();
    range.reverse = random() % 2;
    range.limit = 1 + random() % 20;
    std::vector<Entry> expected;
    for (const auto& [key, value] : model) {
      if (range.start && key < *range.start) continue;
      if (range.end && key >= *range.end) continue;
      expected.push_back({key, value});
    }
    if (range.reverse) std::reverse(expected.begin(), expected.end());
    if (expected.size() > range.limit) expected.resize(range.limit);
    std::vector<Entry> entries;
    CHECK_OK(store.Scan(tx, range, &entries));
    CHECK_EQ(Joined(entries), Joined(expected));
  }
}

TEST(AScanStopsAtItsBytesAndCanGoOn) {
  const auto opened = NewStore();
  Store& store = *opened->store;
  const TransactionRef tx = Begin(store, "tx");
  const std::string value(1 << 20, 'v');
  for (int i = 0; i < 20; i++)
    Step(store, tx, BatchBuilder().Put("k" + std::to_string(100 + i), value));
  Range range;
  size_t count = 0;
  size_t answers = 0;
  for (;;) {
    std::vector<Entry> entries;
    CHECK_OK(store.Scan(tx, range, &entries));
    if (entries.empty()) break;
    CHECK(entries.size() <= 17);
    count += entries.size();
    answers++;
    range.start = entries.back().key + std::string(1, '\0');
  }
  CHECK_EQ(count, 20u);
  CHECK_EQ(answers, 2u);
}

TEST(ASerializableTransactionCannotScan) {
  const auto opened = NewStore();
  const TransactionRef tx = Begin(*opened->store, "tx", true);
  std::vector<Entry> entries;
  CHECK_CODE(opened->store->Scan(tx, {}, &entries), kScanNotSerializable);
}
