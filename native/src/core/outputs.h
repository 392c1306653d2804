// Owns where the output of a step is: in a record of its own (x/{tx}o/), or in the audit entry with
// the same bytes, which the record of the snapshot after the step names. So it is written once.
// O1 Never both: writing or deleting an output clears the name in the snapshot's record.
// O2 An audit entry is kept as long as its transaction is open; outputs go with its end.
// O3 A restore takes the snapshots of the steps that it undoes, and their outputs with them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "batch_decoder.h"
#include "database.h"
#include "work.h"

namespace agenttx {

// The output in `batch` that needs no record, since the first audit entry has its bytes and the
// batch takes the snapshot after its step; or null. Null also when the transaction has records of
// outputs (`spaces`): one could be there for the same step (O1).
const RecordWrite* SharedOutput(const Batch& batch, uint32_t spaces);

// Upholds O1 for the outputs that `batch` writes or deletes. REQUIRES: the batch writes the header
// too, or takes a snapshot; `newest_snapshot` is the newest one before it.
Status ClearSharedOutputs(Group* group, std::string_view tx_name, const Batch& batch,
                          uint32_t newest_snapshot);

Status ReadOutput(Database* db, std::string_view tx_name, uint32_t step,
                  std::optional<std::string>* value);
// Outputs from `from_step` on, in order, up to `limit` and about kScanBytesMax bytes.
Status ScanOutputs(Database* db, const TransactionName& tx, uint32_t from_step, uint32_t limit,
                   std::vector<RecordEntry>* out);

}  // namespace agenttx
