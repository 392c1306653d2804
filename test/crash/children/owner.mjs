// Owns an owner that works until it is refused: argv holds the server's address and the workflow.
// Says one word per answer: a step's status, or the code of the refusal that ends it.
import { createClient } from "@agenttx/client";
import { isAgentTxError } from "@agenttx/model";

const [, , address, id] = process.argv;
const client = createClient({ address });
const workflow = await client.recovery.workflows.open(id);
try {
  for (let count = 0; ; count += 1) {
    const { status } = await workflow.step("kv.put", { key: `${id}/first`, value: count });
    process.stdout.write(`${status}\n`);
  }
} catch (error) {
  process.stdout.write(`${isAgentTxError(error) ? error.code : String(error)}\n`);
}
await client.close();
