// Owns the messages of Ruby and Rails.

import type { HintCategory } from "@agenttx/model";
import { fromWords } from "../key-grammar.js";
import type { Reader, Row } from "../rule.js";
import { categoryOfMessage } from "../structure/category-of-message.js";

const BROKEN =
  /^(.{1,80}?) (can't be blank|can't be empty|has already been taken|is invalid|is too (?:long|short)|is the wrong length|is not a (?:valid )?\w{1,20}|must (?:exist|be|not)|doesn't match|is not included in the list|is reserved|has already|should|cannot|is required|does not|is taken|contains|exceeds)/;

// Validation failed: First name can't be blank, Email has already been taken
const readBroken: Reader = (text, _start, end) => {
  const line = text.slice(end, end + 1500).split("\n", 1)[0] ?? "";
  const names: string[] = [];
  let category: HintCategory | undefined;
  for (const part of line.trim().split(", ")) {
    const match = BROKEN.exec(part.trim());
    const words = match?.[1]?.replace(/^["']/, "");
    if (match === null || words === undefined || words.split(" ").length > 5) continue;
    category ??= match[2] === "must exist" ? "foreign_key_violation" : categoryOfMessage(part);
    const name = fromWords(words);
    if (name !== null) names.push(name);
  }
  return category === undefined
    ? null
    : { names, category: category === "missing_field" ? "missing_field" : category };
};

export const RUBY: readonly Row[] = [
  ["invalid_value", "RecordInvalid: Validation failed:", { read: readBroken }],
  ["invalid_value", "Validation failed:", { read: readBroken, strength: 2 }],
  ["not_found", "Couldn't find {w} with"],
  ["not_found", "Couldn't find all"],
  ["not_found", "Couldn't find {w}\n", { strength: 2 }],
  ["undefined_column", "unknown attribute {key} for"],
  ["missing_field", "param is missing or the value is empty or invalid: {key}"],
  ["missing_field", "param is missing or the value is empty: {key}"],
  ["invalid_value", "found unpermitted parameter: {key}"],
  ["invalid_value", "found unpermitted parameters: {keys}\n"],
  ["invalid_value", "found unpermitted parameters: {key}"],
  ["conflict", "Attempted to update a stale object"],
  ["conflict", "Attempted to destroy a stale object"],
  ["conflict", "Attempted to touch a stale object"],
  ["foreign_key_violation", "Cannot delete record because"],
  ["foreign_key_violation", "because of dependent"],
  ["null_dereference", "for nil:NilClass"],
  ["null_dereference", "undefined method {w} for nil"],
  ["null_dereference", "undefined method {w} for nil", { strength: 2 }],
  ["type_mismatch", "undefined method {w} for", { strength: 2 }],
  ["unresolved_reference", "undefined local variable or method {key} for"],
  ["unresolved_reference", "uninitialized constant"],
  ["missing_field", "key not found: {name}"],
  ["missing_argument", "missing keyword: {key}"],
  ["missing_argument", "missing keywords: {keys}\n"],
  ["missing_argument", "missing keywords: {key}"],
  ["invalid_value", "unknown keyword: {key}"],
  ["invalid_value", "unknown keywords: {key}"],
  ["missing_argument", "wrong number of arguments"],
  ["invalid_value", "invalid value for Integer()"],
  ["invalid_value", "invalid value for Float()"],
  ["invalid_value", "invalid date", { strength: 2 }],
  ["type_mismatch", "no implicit conversion"],
  ["type_mismatch", "can't be coerced into"],
  ["type_mismatch", "can't convert"],
  ["type_mismatch", "comparison of {w} with"],
  ["other", "divided by 0"],
  ["other", "stack level too deep"],
  ["other", "can't modify frozen"],
  ["timeout", "Net::ReadTimeout"],
  ["timeout", "Net::OpenTimeout"],
  ["timeout", "Net::WriteTimeout"],
  ["timeout", "execution expired"],
  ["timeout", "Faraday::TimeoutError"],
  ["timeout", "could not obtain a connection from the pool within"],
  ["timeout", "Waited {} for a connection"],
  ["unavailable", "Faraday::ConnectionFailed"],
  ["unavailable", "Failed to open TCP connection"],
  ["not_found", "@ rb_sysopen - {path}"],
  ["not_found", "No route matches"],
  ["syntax_error", "JSON::ParserError"],
  ["permission_denied", "Pundit::NotAuthorizedError"],
  ["permission_denied", "You are not authorized to access this page"],
  ["permission_denied", "InvalidAuthenticityToken"],
  ["authentication_failed", "You need to sign in or sign up"],
  ["authentication_failed", "HTTP Token: Access denied"],
  ["unique_violation", "ActiveRecord::RecordNotUnique", { strength: 2 }],
  ["unique_violation", "PG::UniqueViolation", { strength: 2 }],
  ["not_null_violation", "ActiveRecord::NotNullViolation", { strength: 2 }],
  ["foreign_key_violation", "ActiveRecord::InvalidForeignKey", { strength: 2 }],
  ["deadlock", "ActiveRecord::Deadlocked", { strength: 2 }],
  ["timeout", "ActiveRecord::LockWaitTimeout", { strength: 2 }],
  ["timeout", "ActiveRecord::StatementTimeout", { strength: 2 }],
  ["timeout", "ActiveRecord::QueryCanceled", { strength: 2 }],
  ["timeout", "ActiveRecord::ConnectionTimeoutError", { strength: 2 }],
  ["serialization_failure", "ActiveRecord::SerializationFailure", { strength: 2 }],
  ["too_long", "ActiveRecord::ValueTooLong", { strength: 2 }],
  ["out_of_range", "ActiveModel::RangeError"],
  ["out_of_range", "ActiveRecord::RangeError", { strength: 2 }],
  ["out_of_range", "is out of range for ActiveModel::Type"],
  ["unavailable", "ActiveRecord::ConnectionNotEstablished", { strength: 2 }],
];
