// Owns the messages of CPython, its validation libraries and command line parsers.

import type { HintCategory } from "@agenttx/model";
import type { Reader, Row } from "../rule.js";
import { categoryOfCode } from "../structure/category-of-code.js";
import { categoryOfMessage } from "../structure/category-of-message.js";

// pydantic 1 and 2: a line with the place, an indented line with the message and its type.
const readPydantic: Reader = (text, _start, end) => {
  const lines = text.slice(end, end + 16_000).split("\n");
  const names: string[] = [];
  let category: HintCategory | undefined;
  for (let index = 1; index + 1 < lines.length && names.length < 32; index++) {
    const place = (lines[index] ?? "").trimEnd();
    const message = lines[index + 1] ?? "";
    if (/^\s|^$/.test(place) || !/^\s{2,}\S/.test(message)) continue;
    const type = /[[(]type=([\w.]{1,80})/.exec(message)?.[1] ?? "";
    category ??= categoryOfCode(type)?.category ?? categoryOfMessage(message);
    if (!/^__root__$|\s(?!->)/.test(place.replaceAll(" -> ", "->"))) {
      names.push(place.replaceAll(" -> ", "."));
    }
  }
  if (category === undefined) return null;
  return { names, category };
};

// jsonschema: On instance['lines'][0]['qty']:
const readInstance: Reader = (text, _start, end) => {
  const at = text.indexOf("\nOn instance[", end);
  if (at === -1 || at > end + 8000) return { names: [] };
  const place = /^\nOn instance((?:\[(?:'[\w$-]{1,64}'|\d{1,6})\]){1,16}):/.exec(
    text.slice(at, at + 600),
  )?.[1];
  if (place === undefined) return { names: [] };
  return {
    names: [
      place.replace(/^\['/, "").replaceAll("']['", ".").replace(/'\]/g, "").replace(/\['/g, "."),
    ],
  };
};

const instance = { read: readInstance };

export const PYTHON: readonly Row[] = [
  ["invalid_value", "validation error for {w}", { read: readPydantic }],
  ["invalid_value", "validation errors for {w}", { read: readPydantic }],
  ["missing_field", 'KeyError: "{key}"'],
  ["null_dereference", "'NoneType' object has no attribute"],
  ["null_dereference", "'NoneType' object is not"],
  ["null_dereference", "'NoneType' object does not support"],
  ["type_mismatch", "unsupported operand type(s) for"],
  ["type_mismatch", "not supported between instances of"],
  ["type_mismatch", "can only concatenate"],
  ["type_mismatch", "object is not subscriptable"],
  ["type_mismatch", "object is not callable"],
  ["type_mismatch", "object is not iterable"],
  ["type_mismatch", "object cannot be interpreted as an integer"],
  ["type_mismatch", "object does not support item assignment"],
  ["type_mismatch", "indices must be integers"],
  ["type_mismatch", "a bytes-like object is required"],
  ["type_mismatch", "expected str, bytes or os.PathLike object"],
  ["type_mismatch", "argument must be a string, a bytes-like object or"],
  ["type_mismatch", "argument must be a string or a real number"],
  ["type_mismatch", "must be str, not"],
  ["type_mismatch", "unhashable type"],
  ["type_mismatch", "is not JSON serializable"],
  ["type_mismatch", "'dict' object has no attribute", { strength: 2 }],
  ["type_mismatch", "'list' object has no attribute", { strength: 2 }],
  ["type_mismatch", "'str' object has no attribute", { strength: 2 }],
  ["type_mismatch", "'int' object has no attribute", { strength: 2 }],
  ["type_mismatch", "'float' object has no attribute", { strength: 2 }],
  ["type_mismatch", "'tuple' object has no attribute", { strength: 2 }],
  ["unresolved_reference", "object has no attribute {key}", { strength: 2 }],
  ["unresolved_reference", "has no attribute", { strength: 3 }],
  ["missing_argument", "missing {#} required positional argument: {key}"],
  ["missing_argument", "missing {#} required positional arguments: {keys}\n"],
  ["missing_argument", "missing {#} required positional arguments: {key}"],
  ["missing_argument", "missing {#} required keyword-only argument: {key}"],
  ["missing_argument", "missing {#} required keyword-only arguments: {key}"],
  ["missing_argument", 'missing required argument "{key}"'],
  ["invalid_value", "got an unexpected keyword argument {key}"],
  ["invalid_value", "got multiple values for argument {key}"],
  ["invalid_value", "got multiple values for keyword argument {key}"],
  ["invalid_value", "passed as keyword arguments: {key}"],
  ["invalid_value", "positional argument but {#} were given"],
  ["invalid_value", "positional arguments but {#} were given"],
  ["invalid_value", "positional arguments but {#} was given"],
  ["invalid_value", "takes no arguments"],
  ["out_of_range", "index out of range", { strength: 2 }],
  ["out_of_range", "is out of range for month"],
  ["out_of_range", "month must be in 1..12"],
  ["out_of_range", "hour must be in 0..23"],
  ["out_of_range", "too large to convert to"],
  ["out_of_range", "math range error"],
  ["invalid_value", "math domain error"],
  ["invalid_value", "invalid literal for int()"],
  ["invalid_value", "could not convert string to float"],
  ["invalid_value", "not enough values to unpack"],
  ["invalid_value", "too many values to unpack"],
  ["invalid_value", "does not match format"],
  ["invalid_value", "unconverted data remains"],
  ["invalid_value", "Invalid isoformat string"],
  ["invalid_value", "is not a valid {w}\n", { strength: 2 }],
  ["invalid_value", "badly formed hexadecimal UUID"],
  ["invalid_value", "decimal.InvalidOperation"],
  ["invalid_value", "decimal.ConversionSyntax"],
  ["invalid_value", "Incorrect padding"],
  ["invalid_value", "codec can't decode"],
  ["invalid_value", "codec can't encode"],
  ["unresolved_reference", "name {key} is not defined"],
  ["unresolved_reference", "local variable {key} referenced before assignment"],
  ["unresolved_reference", "cannot access local variable {key} where"],
  ["unresolved_reference", "cannot access free variable {key} where"],
  ["not_found", "No module named"],
  ["unresolved_reference", "cannot import name"],
  ["other", "maximum recursion depth exceeded"],
  ["other", "ZeroDivisionError"],
  ["other", "dictionary changed size during iteration"],
  ["syntax_error", "JSONDecodeError"],
  ["syntax_error", "Expecting value: line"],
  ["syntax_error", "Expecting property name enclosed"],
  ["syntax_error", "Expecting ',' delimiter"],
  ["syntax_error", "Expecting ':' delimiter"],
  ["syntax_error", "Extra data: line"],
  ["syntax_error", "Unterminated string starting at"],
  ["syntax_error", "Invalid control character at"],
  ["syntax_error", "mapping values are not allowed"],
  ["syntax_error", "could not find expected ':'"],
  ["syntax_error", "while scanning"],
  ["syntax_error", "while parsing a"],
  ["syntax_error", "found character {w} that cannot start any token"],
  ["syntax_error", "IndentationError"],
  ["syntax_error", "SyntaxError:", { strength: 2 }],
  ["syntax_error", "unmatched ')'"],
  ["missing_field", "missing value for field {key}"],
  ["type_mismatch", "wrong value type for field {key}"],
  ["missing_field", "Object missing required field {key}"],
  ["invalid_value", "Object contains unknown field {key}"],
  ["type_mismatch", "Expected {w}, got {w} - at {key}"],
  ["missing_field", "required key not provided @ data[{key}]", { many: true }],
  ["invalid_value", "extra keys not allowed @ data[{key}]", { many: true }],
  ["type_mismatch", "for dictionary value @ data[{key}]", { many: true }],
  ["missing_field", '"{key}" is a required property', { many: true }],
  ["missing_field", '"{key}" is a dependency of'],
  ["invalid_value", "Additional properties are not allowed ({keys} was unexpected)"],
  ["invalid_value", "Additional properties are not allowed ({keys} were unexpected)"],
  ["type_mismatch", "is not of type", instance],
  ["invalid_value", "is not one of [", instance],
  ["invalid_value", "is not a '", { ...instance, strength: 2 }],
  ["invalid_value", "is less than the minimum of", instance],
  ["invalid_value", "is greater than the maximum of", instance],
  ["too_long", "is too long\n", instance],
  ["invalid_value", "is too short\n", instance],
  ["invalid_value", "does not match '", instance],
  ["invalid_value", "is not valid under any of the given schemas", instance],
];
