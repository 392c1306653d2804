// A program that uses @agenttx/hints alone: no other package of ours is imported.
import { equal } from "node:assert/strict";
import { type CleanHint, cleanError } from "@agenttx/hints";

const hint: CleanHint = cleanError(
  'insert or update on table "orders" violates foreign key constraint "fk"\nDETAIL: Key (customer_id)=(9) is not present in table "customers".',
);
equal(hint.category, "foreign_key_violation");
equal(hint.key, "customer_id");
