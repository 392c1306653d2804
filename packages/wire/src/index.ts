// Owns the public list of @agenttx/wire.
export { AgentTxServiceClient, AgentTxServiceService } from "./gen/agenttx/v1/agenttx.js";
