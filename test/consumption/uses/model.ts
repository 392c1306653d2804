// A program that uses @agenttx/model: one error class, recognised across copies.
import { equal } from "node:assert/strict";
import { AgentTxError, type ErrorCode, isAgentTxError, limits } from "@agenttx/model";

const code: ErrorCode = "STORE_LOCKED";
const error: unknown = new AgentTxError(code, "in use");
equal(isAgentTxError(error) && error.retryable, true);
equal(limits.KEY_BYTES_MAX, 4096);
