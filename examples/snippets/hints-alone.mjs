// Only the hints: a raw error goes in, one line that is safe in a prompt comes out.
import { cleanError } from "@agenttx/hints";

const errors = [
  'ERROR:  insert or update on table "orders" violates foreign key constraint ' +
    '"orders_customer_id_fkey"\nDETAIL:  Key (customer_id)=(1007) is not present in table "customers".',
  { status: 429, error: { message: "Too many requests" }, retry_after: 2 },
  new TypeError("Cannot read properties of undefined (reading 'email')"),
];

for (const raw of errors) {
  const hint = cleanError(raw);
  console.log(`${hint.category}  key=${hint.key}  retryable=${hint.retryable}`);
  console.log(`  ${hint.text}`);
}
