// Owns the messages of Prisma, Sequelize, TypeORM, Knex, Drizzle and MikroORM.

import type { Reader, Row } from "../rule.js";

const many = { many: true } as const;

// Prisma prints the constraint instead of the field when the database does not tell the field.
const readRelationField: Reader = (text, _start, end) => {
  const name = /^\s{0,2}[`"'(]{0,2}([\w.]{1,128})(?: \(index\))?[`"')]/.exec(
    text.slice(end, end + 160),
  );
  const field = name?.[1] ?? "";
  const constraint =
    name?.[0].includes("(index)") || /_(?:fkey|fk|key|idx|id_fk)$|^fk_/i.test(field);
  return { names: constraint || field === "" || field === "not" ? [] : [field] };
};

export const PRISMA: readonly Row[] = [
  ["unique_violation", "Unique constraint failed on the fields: ({keys})"],
  ["unique_violation", "Unique constraint failed on the"],
  [
    "foreign_key_violation",
    "Foreign key constraint failed on the field:",
    { read: readRelationField },
  ],
  ["foreign_key_violation", "Foreign key constraint violated"],
  ["foreign_key_violation", "would violate the required relation"],
  ["not_null_violation", "Null constraint violation on the fields: ({keys})"],
  ["not_null_violation", "Null constraint violation"],
  ["missing_argument", "Argument {key} is missing", many],
  ["missing_argument", "Argument {key} for {w} is missing", many],
  ["missing_argument", "Argument {key} must not be null", many],
  ["type_mismatch", "Argument {key}: Invalid value provided. Expected", many],
  ["type_mismatch", "Argument {key}: Got invalid value", many],
  ["invalid_value", "Invalid value for argument {mark}", many],
  ["invalid_value", "Unknown argument {mark}", many],
  ["invalid_value", "Unknown arg {key} in", many],
  ["undefined_column", "Unknown field {key} for", many],
  ["missing_field", "Missing a required value at {key}"],
  ["missing_argument", "Missing the required argument {key}"],
  ["invalid_value", "field {key} is not valid", { strength: 2 }],
  ["too_long", "is too long for the column's type. Column: {col}"],
  ["out_of_range", "Value out of range for the type"],
  ["out_of_range", "Unable to fit value {v}into"],
  ["invalid_value", "Inconsistent column data"],
  ["not_found", "required but not found"],
  ["not_found", "Record to update not found"],
  ["not_found", "Record to delete does not exist"],
  ["not_found", "Record not found"],
  ["serialization_failure", "due to a write conflict or a deadlock"],
  ["unavailable", "Can't reach database server"],
  ["unavailable", "Server has closed the connection"],
  ["timeout", "fetching a new connection from the connection pool"],
  ["timeout", "Unable to start a transaction in the given time"],
  ["timeout", "Transaction already closed"],
  ["timeout", "on an expired transaction"],
  ["authentication_failed", "Authentication failed against database server"],
  ["permission_denied", "was denied access on the database"],
  ["not_found", "Database {w} does not exist on the database server"],
  ["missing_field", "Environment variable not found: {key}"],
];

export const JS_ORM: readonly Row[] = [
  ["not_null_violation", "notNull Violation: {col} cannot be null", many],
  ["invalid_value", "Validation error: Validation {w} on {key} failed", many],
  ["invalid_value", "Validation {w} on {key} failed", many],
  ["type_mismatch", "string violation: {col} cannot be an array or an object", many],
  ["unique_violation", "unique violation: {col} must be unique", many],
  ["unique_violation", "SequelizeUniqueConstraintError", { strength: 2 }],
  ["foreign_key_violation", "SequelizeForeignKeyConstraintError", { strength: 2 }],
  ["invalid_value", "SequelizeValidationError", { strength: 3 }],
  ["timeout", "SequelizeConnectionAcquireTimeoutError"],
  ["timeout", "SequelizeTimeoutError", { strength: 2 }],
  ["authentication_failed", "SequelizeAccessDeniedError", { strength: 2 }],
  ["unavailable", "SequelizeConnectionRefusedError", { strength: 2 }],
  ["unavailable", "SequelizeHostNotFoundError", { strength: 2 }],
  ["unavailable", "SequelizeHostNotReachableError", { strength: 2 }],
  ["conflict", "SequelizeOptimisticLockError", { strength: 2 }],
  ["missing_field", 'WHERE parameter {key} has invalid "undefined" value'],
  ["invalid_value", "is not associated to"],
  ["invalid_value", "Unknown attributes ({keys})"],
  ["undefined_column", "Property {key} was not found in"],
  ["undefined_column", "No entity column {key} was found"],
  ["undefined_column", "Cannot find column {key}"],
  ["not_found", "Could not find any entity of type"],
  ["undefined_table", "No metadata for {w} was found"],
  ["unresolved_reference", "alias was not found"],
  ["missing_field", "UpdateValuesMissingError"],
  ["conflict", "The optimistic lock on entity"],
  ["missing_field", "Undefined binding(s) detected when compiling {}Undefined column(s): [{keys}]"],
  ["missing_field", "Undefined binding(s) detected when compiling"],
  ["timeout", "Timeout acquiring a connection"],
  ["missing_field", "Empty .update() call detected"],
  ["missing_field", "No values to set"],
  ["missing_field", "Value for {col} is required"],
  ["type_mismatch", "Trying to set {col} of type"],
];

const P_CODES: Readonly<Record<string, Row[0]>> = {
  P1000: "authentication_failed",
  P1001: "unavailable",
  P1002: "timeout",
  P1003: "not_found",
  P1008: "timeout",
  P1010: "permission_denied",
  P1017: "unavailable",
  P2000: "too_long",
  P2001: "not_found",
  P2002: "unique_violation",
  P2003: "foreign_key_violation",
  P2004: "check_violation",
  P2005: "invalid_value",
  P2006: "invalid_value",
  P2007: "invalid_value",
  P2009: "invalid_value",
  P2011: "not_null_violation",
  P2012: "missing_field",
  P2013: "missing_argument",
  P2014: "foreign_key_violation",
  P2015: "not_found",
  P2018: "not_found",
  P2019: "invalid_value",
  P2020: "out_of_range",
  P2021: "undefined_table",
  P2022: "undefined_column",
  P2023: "invalid_value",
  P2024: "timeout",
  P2025: "not_found",
  P2028: "timeout",
  P2033: "out_of_range",
  P2034: "serialization_failure",
  P2037: "unavailable",
};

/** Prisma's numbered errors, printed as `code: 'P2002'` or `Error code: P1001`. */
export const PRISMA_CODES: readonly Row[] = Object.entries(P_CODES).map(([code, category]) => [
  category,
  code,
]);
