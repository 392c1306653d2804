// Owns the second connection that tests use: somebody else with the same database.

import { databaseOf, type SqlConnection } from "../sql/driver.js";

export function openDatabase(path: string): SqlConnection {
  return databaseOf({ path }).open(path, { readonly: false, fileMustExist: false, timeout: 5_000 });
}
