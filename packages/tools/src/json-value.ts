// Owns the schema of an argument that may be any JSON value. The engine has made plain JSON of all
// arguments before a schema sees them, so the value is not walked a second time.

import type { JsonValue } from "@agenttx/model";
import { z } from "zod";

/** Any JSON value; only its absence is refused. */
export const jsonValue = z.custom<JsonValue>((value) => value !== undefined, {
  error: "Required: any JSON value",
});
