// Owns the public list of @agenttx/wire: messages, the service, and the codecs to the model.
import * as effects from "./gen/agenttx/v1/effects.js";
import * as rollback from "./gen/agenttx/v1/rollback.js";
import * as session from "./gen/agenttx/v1/session.js";
import * as steps from "./gen/agenttx/v1/steps.js";
import * as transactions from "./gen/agenttx/v1/transactions.js";
import * as work from "./gen/agenttx/v1/work.js";
import * as workflows from "./gen/agenttx/v1/workflows.js";

export { effectFromWire, effectToWire } from "./effect-codec.js";
export type { WireError } from "./error-codec.js";
export {
  ERROR_DOMAIN,
  errorFromWire,
  errorInfoOf,
  errorMetadata,
  errorToWire,
  GRPC_STATUS,
} from "./error-codec.js";
export type { MessageCodec } from "./message-writer.js";
export { encodeMessage } from "./message-writer.js";
export { outcomeFromWire, outcomeToWire } from "./outcome-codec.js";
export { policyFromWire, policyToWire } from "./rollback-codec.js";
export { agentTxService } from "./service.js";
export {
  commitFromWire,
  commitToWire,
  rollbackFromWire,
  rollbackToWire,
  statusFromWire,
  summaryToWire,
  viewFromWire,
  viewToWire,
} from "./transaction-codec.js";
export {
  checkpointFromWire,
  checkpointToWire,
  itemFromWire,
  itemToWire,
  refFromWire,
  refToWire,
  workflowFromWire,
  workflowToWire,
} from "./workflow-codec.js";
export { effects, rollback, session, steps, transactions, work, workflows };
