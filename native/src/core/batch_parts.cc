// Owns what the verbs have in common; see batch_parts.h.
#include "batch_parts.h"

#include "bytes.h"

namespace agenttx {
namespace {

Status NotTaken(const char* verb_name, const char* part) {
  return {Code::kInvalidArgument,
          std::string(verb_name) + " takes no " + part + " in its batch; nothing was written."};
}

std::string Numbers(const char* what, uint64_t got, uint64_t expected) {
  return std::string("The batch carries ") + what + " " + std::to_string(got) + ", but " +
         std::to_string(expected) + " is current; nothing was written.";
}

// One above the newest l/ record, from 1. A group holds one work of a transaction at most (G1), so
// the database has all earlier ones.
Status NextEvidenceSeq(Database* db, std::string_view tx_name, uint64_t* seq) {
  Database::RangeIterator rows(db, kEffects,
                               PrefixRange(RecordPrefix(RecordSpace::kLate, tx_name)));
  rows->SeekToLast();
  *seq = rows->Valid() ? LoadU64(rows.key().data() + rows.key().size() - 8) + 1 : 1;
  return rows.status();
}

}  // namespace

Status DecodeFor(const char* verb_name, uint32_t parts, std::string_view bytes, Batch* out) {
  Status status = DecodeBatch(bytes, out);
  if (!status.ok()) return status;
  const bool has_header = out->payload.has_value() || out->next.has_value();
  const bool has_fence = out->fence.has_value() || out->evidence.has_value();
  if (!out->writes.empty() && !(parts & kTakesWrites)) return NotTaken(verb_name, "writes");
  if (out->snapshot.has_value() && !(parts & kTakesSnapshot)) {
    return NotTaken(verb_name, "snapshot");
  }
  if (has_header && !(parts & kTakesHeader)) return NotTaken(verb_name, "payload and no next");
  if (has_fence && !(parts & kTakesFence)) return NotTaken(verb_name, "fence and no evidence");
  if (out->erases_chain && !(parts & kTakesErase)) return NotTaken(verb_name, "chain erasure");
  if (!out->stamped.empty() && !(parts & kTakesStamp)) return NotTaken(verb_name, "stamped record");
  return status;
}

Status CheckHandle(Database* db, const Transaction& tx) {
  if (tx.phase == Transaction::Phase::kEnded) {
    return {Code::kTransactionEnded, "The transaction has ended; nothing was done."};
  }
  if (tx.phase != Transaction::Phase::kOpen || tx.state.incarnation != db->incarnation()) {
    return {Code::kStaleOwner,
            "The store was reopened since this handle was made; nothing was done. Attach again."};
  }
  return Status::Ok();
}

Status CheckFence(const TransactionState& state, const Batch& batch) {
  if (!batch.fence.has_value()) return Status::Ok();
  const Fence& fence = *batch.fence;
  if (fence.owner != state.owner) {
    return {Code::kStaleOwner, Numbers("owner token", fence.owner, state.owner)};
  }
  if (fence.attempt != state.attempt) {
    return {Code::kStaleAttempt, Numbers("attempt", fence.attempt, state.attempt)};
  }
  if (fence.step != state.step) {
    return {Code::kStepOutOfOrder, Numbers("step", fence.step, state.step)};
  }
  return Status::Ok();
}

Status FenceOrEvidence(Group* group, std::string_view tx_name, const TransactionState& state,
                       const Batch& batch, Status* outcome, bool* refused) {
  *refused = false;
  Status mismatch = CheckFence(state, batch);
  if (mismatch.ok()) return mismatch;
  if (!batch.evidence.has_value()) return mismatch;
  uint64_t seq = 0;
  Status status = NextEvidenceSeq(group->db, tx_name, &seq);
  if (!status.ok()) return status;
  *refused = true;
  *outcome = std::move(mismatch);
  return Put(group, kEffects, RecordKey(RecordSpace::kLate, tx_name, 0, seq, {}), *batch.evidence);
}

Status ApplyNext(const Batch& batch, TransactionState* state) {
  if (!batch.next.has_value()) return Status::Ok();
  const Next& next = *batch.next;
  if (next.owner.value_or(state->owner) < state->owner ||
      next.attempt.value_or(state->attempt) < state->attempt) {
    return {Code::kInvalidArgument,
            "Owner tokens and attempts only grow; the batch lowers one. Nothing was written."};
  }
  state->owner = next.owner.value_or(state->owner);
  state->attempt = next.attempt.value_or(state->attempt);
  state->step = next.step.value_or(state->step);
  return Status::Ok();
}

Status AddRecords(Group* group, std::string_view tx_name, const Batch& batch, uint32_t* spaces,
                  const RecordWrite* left_out) {
  for (const RecordWrite& record : batch.records) {
    if (&record == left_out) continue;
    const std::string key = RecordKey(record.space, tx_name, record.step, record.seq, record.name);
    *spaces |= 1u << static_cast<uint8_t>(record.space);
    const Family family = FamilyOf(record.space);
    Status status =
        record.is_delete ? Delete(group, family, key) : Put(group, family, key, record.value);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

Status AddAudit(Group* group, std::string_view tx_name, const Batch& batch, ChainHead* chain) {
  for (const std::string_view payload : batch.audit) {
    const std::string entry = AppendToChain(chain, payload);
    Status status = Put(group, kAuditFamily, ChainKey(tx_name, chain->seq), entry);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

Status AddStoreAudit(Group* group, const Batch& batch) {
  for (const std::string_view payload : batch.store_audit) {
    const std::string entry = AppendToChain(&group->store_audit, payload);
    group->state_changed = true;
    Status status = Put(group, kAuditFamily, StoreChainKey(group->store_audit.seq), entry);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

Status AddCommonParts(Group* group, std::string_view tx_name, const Batch& batch,
                      TransactionState* state, const RecordWrite* left_out) {
  Status status = AddRecords(group, tx_name, batch, &state->spaces, left_out);
  if (status.ok()) status = AddAudit(group, tx_name, batch, &state->audit);
  if (status.ok()) status = AddStoreAudit(group, batch);
  return status;
}

Status PutHeader(Group* group, std::string_view tx_name, const TransactionState& state,
                 std::string_view payload) {
  return Put(group, kSnapshots, HeaderKey(tx_name), EncodeHeader(state, payload));
}

Status PutSnapshot(Group* group, std::string_view tx_name, uint32_t step,
                   const SnapshotRecord& snapshot) {
  return Put(group, kSnapshots, SnapshotKey(tx_name, step), EncodeSnapshot(snapshot, nullptr));
}

Status TakeSnapshot(Group* group, std::string_view tx_name, uint32_t step,
                    TransactionState* state) {
  return TakeStepSnapshot(group, tx_name, step, false, 0, state);
}

Status TakeStepSnapshot(Group* group, std::string_view tx_name, uint32_t step, bool moves_header,
                        uint64_t output_entry, TransactionState* state) {
  if (step <= state->snapshot) {
    return {Code::kInvalidArgument, "Snapshot " + std::to_string(step) +
                                        " is not above the newest one, " +
                                        std::to_string(state->snapshot) + "; nothing was written."};
  }
  state->snapshot = step;
  const SnapshotRecord snapshot{state->next_seq, state->extent, output_entry};
  return Put(group, kSnapshots, SnapshotKey(tx_name, step),
             EncodeSnapshot(snapshot, moves_header ? state : nullptr));
}

Status Put(Group* group, Family family, std::string_view key, std::string_view value) {
  return FromRocks(group->batch.Put(group->db->handle(family), ToSlice(key), ToSlice(value)));
}

Status Delete(Group* group, Family family, std::string_view key) {
  return FromRocks(group->batch.Delete(group->db->handle(family), ToSlice(key)));
}

}  // namespace agenttx
