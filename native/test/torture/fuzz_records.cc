// Owns mutated records (Z2).
#include "batch_decoder.h"
#include "fuzz.h"
#include "header_codec.h"
#include "overlay_entry.h"
#include "read_set.h"
#include "test_batch.h"

namespace agenttx::torture {
namespace {

using Random = std::mt19937_64;

std::string RandomBytes(Random* random, size_t bytes_max) {
  std::string bytes((*random)() % (bytes_max + 1), '\0');
  for (char& byte : bytes) byte = static_cast<char>((*random)());
  return bytes;
}

std::string Mutated(std::string bytes, Random* random) {
  for (uint64_t count = 1 + (*random)() % 3; count > 0 && !bytes.empty(); count--) {
    const size_t at = (*random)() % bytes.size();
    switch ((*random)() % 5) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << (*random)() % 8));
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:
        bytes.insert(at, RandomBytes(random, 8));
        break;
      case 3:
        bytes.erase(at, 1 + (*random)() % 8);
        break;
      default:
        // Lengths of nearly nothing and of nearly everything.
        for (size_t i = at; i < std::min(at + 4, bytes.size()); i++) {
          bytes[i] = (*random)() % 2 == 0 ? '\xFF' : '\0';
        }
    }
  }
  return bytes;
}

bool IsWithin(std::string_view part, std::string_view whole) {
  if (part.empty()) return true;
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

std::string RandomBatch(Random* random) {
  test::BatchBuilder batch;
  for (uint64_t count = (*random)() % 6; count > 0; count--) {
    const std::string key = "k" + RandomBytes(random, 20);
    switch ((*random)() % 8) {
      case 0:
        batch.Put(key, RandomBytes(random, 60));
        break;
      case 1:
        batch.Delete(key);
        break;
      case 2:
        batch.Record(RecordSpace::kSaga, 1, 2, key, RandomBytes(random, 30));
        break;
      case 3:
        batch.DeleteRecord(RecordSpace::kRequest, 1, 2, key);
        break;
      case 4:
        batch.Audit(RandomBytes(random, 30));
        break;
      case 5:
        batch.StoreAudit(RandomBytes(random, 30));
        break;
      case 6:
        batch.Evidence(RandomBytes(random, 10)).Fence(1, 2, 3);
        break;
      default:
        batch.Snapshot(3).NextStep(4).Payload(RandomBytes(random, 30));
        break;
    }
  }
  return batch.bytes();
}

void FuzzBatch(Random* random, GuardedBytes* guard, const Complain& complain) {
  const std::string_view bytes = guard->Place(Mutated(RandomBatch(random), random));
  Batch batch;
  const Status status = DecodeBatch(bytes, &batch);
  if (!status.ok()) {
    if (status.message().empty())
      complain("a batch is refused without a reason", std::string(bytes));
    return;
  }
  bool is_within = true;
  for (const StateWrite& write : batch.writes) {
    is_within = is_within && IsWithin(write.key, bytes) && IsWithin(write.value, bytes);
    if (write.key.empty()) complain("a batch has an empty key", std::string(bytes));
  }
  for (const RecordWrite& record : batch.records) {
    is_within = is_within && IsWithin(record.name, bytes) && IsWithin(record.value, bytes);
  }
  for (const std::string_view entry : batch.audit) is_within = is_within && IsWithin(entry, bytes);
  if (!is_within) complain("a batch points outside of its bytes", std::string(bytes));
}

TransactionState RandomState(Random* random) {
  TransactionState state;
  state.incarnation = (*random)();
  state.owner = (*random)();
  state.attempt = (*random)();
  state.step = static_cast<uint32_t>((*random)());
  state.snapshot = static_cast<uint32_t>((*random)());
  state.next_seq = (*random)();
  state.extent = {(*random)(), (*random)(), (*random)(), (*random)()};
  state.bytes_max = (*random)();
  state.keys_max = (*random)();
  state.serializable = (*random)() % 2 == 0;
  state.has_read_set = (*random)() % 2 == 0;
  state.base_commit = (*random)();
  state.spaces = static_cast<uint32_t>((*random)() % 512);
  state.audit.seq = (*random)();
  for (auto& byte : state.audit.hash) byte = static_cast<uint8_t>((*random)());
  return state;
}

// Read, written and read again, a header says the same.
void FuzzHeader(Random* random, GuardedBytes* guard, const Complain& complain) {
  const std::string payload = RandomBytes(random, 40);
  const TransactionState state = RandomState(random);
  const std::string valid = EncodeHeader(state, payload);
  TransactionState read;
  std::string_view read_payload;
  const std::string_view placed = guard->Place(valid);
  if (!DecodeHeader(placed, &read, &read_payload) || read_payload != payload ||
      EncodeHeader(read, read_payload) != valid) {
    complain("a header is not read back", valid);
  }
  const std::string_view mutated = guard->Place(Mutated(valid, random));
  TransactionState wrong;
  if (!DecodeHeader(mutated, &wrong, &read_payload)) return;
  if (!IsWithin(read_payload, mutated)) complain("a header points outside", std::string(mutated));
  const std::string rewritten = EncodeHeader(wrong, read_payload);
  TransactionState again;
  std::string_view again_payload;
  if (!DecodeHeader(rewritten, &again, &again_payload) || again_payload != read_payload ||
      EncodeHeader(again, again_payload) != rewritten) {
    complain("a header that was read is not written back the same", std::string(mutated));
  }
}

void FuzzEntries(Random* random, GuardedBytes* guard, const Complain& complain) {
  const std::string value = RandomBytes(random, 40);
  const EntryHeader front = EncodeEntryHeader(EntryKind::kValue, (*random)());
  const std::string entry = std::string(front.bytes, kEntryHeaderBytes) + value;
  OverlayEntry read;
  std::string_view bytes = guard->Place(entry);
  if (!DecodeOverlayEntry(bytes, &read) || read.value != value) {
    complain("an overlay entry is not read back", entry);
  }
  bytes = guard->Place(Mutated(entry, random));
  if (DecodeOverlayEntry(bytes, &read) && !IsWithin(read.value, bytes)) {
    complain("an overlay entry points outside", std::string(bytes));
  }
  CommittedValue committed;
  if (DecodeCommittedValue(bytes, &committed) && !IsWithin(committed.value, bytes)) {
    complain("a committed value points outside", std::string(bytes));
  }
  const std::string key = "k" + RandomBytes(random, 20);
  const std::string undo = EncodeUndoHeader(key, true) + entry;
  UndoRecord record;
  bytes = guard->Place(undo);
  if (!DecodeUndoRecord(bytes, &record) || record.key != key || record.prior != entry) {
    complain("an undo record is not read back", undo);
  }
  bytes = guard->Place(Mutated(undo, random));
  if (DecodeUndoRecord(bytes, &record) &&
      !(IsWithin(record.key, bytes) && IsWithin(record.prior.value_or(""), bytes))) {
    complain("an undo record points outside", std::string(bytes));
  }
}

void FuzzReads(Random* random, GuardedBytes* guard, const Complain& complain) {
  ReadSet set;
  for (uint64_t count = 1 + (*random)() % 4; count > 0; count--) {
    set.Remember("k" + RandomBytes(random, 12), (*random)(), (*random)() % 2 == 0);
  }
  const std::string valid = set.EncodeUnsaved();
  ReadSet read;
  if (!read.LoadRecord(1, guard->Place(valid)) || read.entries().size() != set.entries().size()) {
    complain("a read set is not read back", valid);
  }
  for (const auto& [key, entry] : set.entries()) {
    const ReadEntry* const found = read.Find(key);
    if (found == nullptr || found->version != entry.version) complain("a read is lost", valid);
  }
  ReadSet wrong;
  (void)wrong.LoadRecord(1, guard->Place(Mutated(valid, random)));
}

void FuzzChain(Random* random, GuardedBytes* guard, const Complain& complain) {
  ChainHead head = EmptyChain("name");
  const std::string payload = RandomBytes(random, 40);
  const std::string entry = AppendToChain(&head, payload);
  ChainEntry read;
  if (!DecodeChainEntry(guard->Place(entry), &read) || read.payload != payload ||
      read.hash != head.hash) {
    complain("an audit entry is not read back", entry);
  }
  const std::string_view bytes = guard->Place(Mutated(entry, random));
  if (DecodeChainEntry(bytes, &read) && !IsWithin(read.payload, bytes)) {
    complain("an audit entry points outside", std::string(bytes));
  }
  ChainHead other;
  if (!DecodeChainHead(guard->Place(EncodeChainHead(head)), &other) || other.seq != head.seq) {
    complain("a chain head is not read back", entry);
  }
  (void)DecodeChainHead(guard->Place(Mutated(EncodeChainHead(head), random)), &other);
  const SnapshotRecord snapshot{(*random)(), {(*random)(), 1, 2, 3}, (*random)()};
  TransactionState state;
  state.attempt = (*random)();
  state.audit = head;
  SnapshotRecord snapshot_read;
  TransactionState state_read;
  for (const bool moves : {false, true}) {
    const TransactionState* moved = moves ? &state : nullptr;
    const std::string snapshot_bytes = EncodeSnapshot(snapshot, moved);
    const std::string_view placed = guard->Place(snapshot_bytes);
    if (!DecodeSnapshot(placed, &snapshot_read) ||
        DecodeMovedState(placed, 7, &state_read) != moves ||
        EncodeSnapshot(snapshot_read, moves ? &state_read : nullptr) != snapshot_bytes) {
      complain("a snapshot is not read back", snapshot_bytes);
    }
    const std::string mutated = Mutated(snapshot_bytes, random);
    (void)DecodeSnapshot(guard->Place(mutated), &snapshot_read);
    (void)DecodeMovedState(guard->Place(mutated), 7, &state_read);
  }
}

}  // namespace

void FuzzRecord(Random* random, GuardedBytes* guard, const Complain& complain) {
  switch ((*random)() % 5) {
    case 0:
      return FuzzBatch(random, guard, complain);
    case 1:
      return FuzzHeader(random, guard, complain);
    case 2:
      return FuzzEntries(random, guard, complain);
    case 3:
      return FuzzReads(random, guard, complain);
    default:
      return FuzzChain(random, guard, complain);
  }
}

}  // namespace agenttx::torture
