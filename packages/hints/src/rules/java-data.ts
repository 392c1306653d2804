// Owns the messages of Hibernate, JPA, Spring Data, JDBC pools, H2, HSQLDB and Derby.

import type { Reader, Row } from "../rule.js";
import { categoryOfMessage } from "../structure/category-of-message.js";

// ConstraintViolationImpl{interpolatedMessage='…', propertyPath=a.b, …}
const readViolation: Reader = (text, _start, end) => {
  const window = text.slice(end, end + 600);
  const path = /propertyPath=([\w.[\]<>]{1,128})/.exec(window);
  if (path?.[1] === undefined) return null;
  const message = window.slice(0, path.index);
  const isNull =
    /must not be null|NotNull/.test(message) || /\.NotNull\./.test(window.slice(0, 400));
  return {
    names: [path[1]],
    category: isNull ? "not_null_violation" : categoryOfMessage(message),
  };
};

// Spring: codes [NotNull.order.customerId,…] tell the constraint that the field broke.
const readFieldError: Reader = (text, _start, end) => {
  const name = /^\s?["']([\w.[\]]{1,128})["']/.exec(text.slice(end, end + 140))?.[1];
  const code = /codes \[(\w{1,40})/.exec(text.slice(end, end + 600))?.[1] ?? "";
  if (name === undefined) return null;
  if (/^Not(?:Null|Blank|Empty)/.test(code)) return { names: [name], category: "missing_field" };
  if (code === "typeMismatch") return { names: [name], category: "type_mismatch" };
  return { names: [name] };
};

// H2: … ON PUBLIC.USERS(EMAIL NULLS FIRST) VALUES …
const readIndexColumns: Reader = (text, _start, end) => {
  const columns = / ON [\w."]{1,160}\(([^()\n]{1,300})\)/.exec(text.slice(end, end + 500))?.[1];
  if (columns === undefined) return { names: [] };
  return { names: columns.split(", ").map((name) => name.replace(/ .*$/, "").replace(/"/g, "")) };
};

const readReferencing: Reader = (text, _start, end) => {
  const columns = /FOREIGN KEY\(([^()\n]{1,300})\)/.exec(text.slice(end, end + 500))?.[1];
  return { names: columns === undefined ? [] : columns.replace(/"/g, "").split(", ") };
};

export const JAVA_DATA: readonly Row[] = [
  ["not_null_violation", "not-null property references a null or transient value{}: {col}"],
  ["foreign_key_violation", "object references an unsaved transient instance{} : {col} ->"],
  ["foreign_key_violation", "object references an unsaved transient instance"],
  [
    "invalid_value",
    "ConstraintViolationImpl{interpolatedMessage=",
    { read: readViolation, many: true },
  ],
  ["conflict", "Row was updated or deleted by another transaction"],
  ["conflict", "Batch update returned unexpected row count"],
  ["conflict", "OptimisticLockException"],
  ["conflict", "OptimisticLockingFailureException"],
  ["conflict", "StaleObjectStateException"],
  ["conflict", "StaleStateException"],
  ["conflict", "Detached entity passed to persist"],
  ["unique_violation", "A different object with the same identifier value"],
  ["undefined_column", "No property {key} found for type"],
  ["undefined_column", "could not resolve property: {key} of"],
  ["undefined_column", "Could not resolve attribute {key} of"],
  ["undefined_column", "Unable to locate Attribute with the given name [{key}]"],
  ["not_found", "No entity found for query"],
  ["not_found", "No result found for query"],
  ["not_found", "EmptyResultDataAccessException"],
  ["not_found", "Unable to find {w} with id"],
  ["not_found", "No row with the given identifier exists"],
  ["conflict", "query did not return a unique result"],
  ["conflict", "NonUniqueResultException"],
  ["other", "failed to lazily initialize"],
  ["missing_argument", "Named parameter not bound : {key}"],
  ["missing_argument", "Not all named parameters have been set: [{keys}]"],
  ["missing_argument", "Named parameter [{key}] not set"],
  ["missing_argument", "No value supplied for the SQL parameter {key}"],
  ["missing_argument", "No value specified for parameter"],
  ["missing_argument", "No argument for named parameter {key}"],
  ["invalid_value", "Parameter with that name [{key}] did not exist"],
  ["invalid_value", "Could not locate named parameter [{key}]"],
  ["invalid_value", "Field error in object {w} on field", { read: readFieldError, many: true }],
  ["timeout", "Connection is not available, request timed out"],
  ["timeout", "Cannot get a connection, pool error Timeout waiting for idle object"],
  ["unavailable", "Communications link failure"],
  ["unavailable", "Unable to acquire JDBC Connection", { strength: 2 }],
  ["unavailable", "This connection has been closed"],
  ["unavailable", "CannotGetJdbcConnectionException", { strength: 2 }],
  ["deadlock", "DeadlockLoserDataAccessException", { strength: 2 }],
  ["serialization_failure", "CannotSerializeTransactionException", { strength: 2 }],
  ["timeout", "CannotAcquireLockException", { strength: 2 }],
  ["timeout", "PessimisticLockException", { strength: 2 }],
  ["timeout", "PessimisticLockingFailureException", { strength: 2 }],
  ["timeout", "LockTimeoutException", { strength: 2 }],
  ["timeout", "LockAcquisitionException", { strength: 2 }],
  ["unique_violation", "DuplicateKeyException", { strength: 2 }],
  ["not_null_violation", "NULL not allowed for column {col}"],
  ["unique_violation", "Unique index or primary key violation", { read: readIndexColumns }],
  [
    "foreign_key_violation",
    "Referential integrity constraint violation",
    { read: readReferencing },
  ],
  ["check_violation", "Check constraint violation"],
  ["check_violation", "Check constraint invalid"],
  ["too_long", "Value too long for column {col}"],
  ["undefined_column", "Column {col} not found"],
  ["undefined_table", "Table {w} not found"],
  ["type_mismatch", "Data conversion error converting"],
  ["out_of_range", "Numeric value out of range: {v}in column {col}"],
  ["out_of_range", "Numeric value out of range in column {col}"],
  ["syntax_error", "Syntax error in SQL statement"],
  ["not_null_violation", "NOT NULL check constraint; {} column: {col}"],
  ["foreign_key_violation", "integrity constraint violation: foreign key no"],
  ["unique_violation", "integrity constraint violation: unique constraint"],
  ["check_violation", "integrity constraint violation: check constraint"],
  ["not_null_violation", "Column {col} cannot accept a NULL value"],
  ["unique_violation", "would have caused a duplicate key value in a unique or primary key"],
];
