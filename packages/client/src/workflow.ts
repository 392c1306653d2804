// Owns the client's handle on a workflow: the shape of the embedded one. Everything it writes carries
// the owner's fencing token; after another owner took the workflow it is answered STALE_OWNER (C3).

import type { Checkpoint, CommitOutcome, StepOutcome } from "@agenttx/model";
import { agentTxService, checkpointFromWire, type workflows } from "@agenttx/wire";
import { required } from "./required.js";
import type { ToolLike } from "./tool-types.js";
import type { CallSignal, ClientTransaction, StepOptions } from "./transaction.js";
import type { UnaryCaller } from "./unary-transport.js";

export class ClientWorkflow {
  readonly #caller: UnaryCaller;
  readonly id: string;
  readonly revision: number;
  /** Given out to whoever works for this owner. */
  readonly fencingToken: bigint;
  /** The transaction of its revision: steps can also be sent to it directly. */
  readonly transaction: ClientTransaction<readonly ToolLike[]>;

  /** Internal: handles come from `client.recovery.workflows`. */
  constructor(
    caller: UnaryCaller,
    workflow: workflows.Workflow,
    transaction: ClientTransaction<readonly ToolLike[]>,
  ) {
    this.#caller = caller;
    this.id = workflow.workflowId;
    this.revision = workflow.revision;
    this.fencingToken = workflow.fencingToken;
    this.transaction = transaction;
  }

  /** A step of the revision; see ClientTransaction.step. */
  step(tool: string, args: unknown, options: StepOptions = {}): Promise<StepOutcome> {
    // Tools are known to the server by name; their argument types belong to the application.
    return this.transaction.step(tool, args as never, options);
  }

  /** A place to come back to, after the last step: invariants are evaluated and stored with it. */
  async checkpoint(name: string, options: CallSignal = {}): Promise<Checkpoint> {
    const { id: workflowId, fencingToken } = this;
    const { checkpoint } = await this.#caller.call(
      agentTxService.takeCheckpoint,
      { workflowId, fencingToken, name },
      options,
    );
    return checkpointFromWire(required(checkpoint, "checkpoint"));
  }

  /** Commits the revision and puts the replaced ones away. */
  async commit(options: CallSignal = {}): Promise<Omit<CommitOutcome, "dispatchErrors">> {
    const { id: workflowId, fencingToken } = this;
    const { stepsCommitted, effectsDispatched, effectsPending, commitVersion } =
      await this.#caller.call(agentTxService.commitWorkflow, { workflowId, fencingToken }, options);
    return {
      status: "COMMITTED",
      commitVersion,
      stepsCommitted,
      effectsDispatched,
      effectsPending,
    };
  }
}
