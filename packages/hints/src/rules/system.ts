// Owns the texts of operating systems: errno, WinError, shells and command line tools.

import type { HintCategory } from "@agenttx/model";
import type { Row } from "../rule.js";

interface Errno {
  readonly name: string;
  readonly category: HintCategory;
  readonly text: string;
  /** Only where it differs from the category's. */
  readonly retryable?: boolean;
  /** True when the text blames a file, so that its path may be named. */
  readonly file?: boolean;
}

const ERRNOS: readonly Errno[] = [
  { name: "ENOENT", category: "not_found", text: "No such file or directory", file: true },
  { name: "EACCES", category: "permission_denied", text: "Permission denied", file: true },
  { name: "EPERM", category: "permission_denied", text: "Operation not permitted", file: true },
  { name: "EEXIST", category: "unique_violation", text: "File exists", file: true },
  { name: "EEXIST", category: "unique_violation", text: "file already exists", file: true },
  { name: "EISDIR", category: "type_mismatch", text: "Is a directory", file: true },
  {
    name: "EISDIR",
    category: "type_mismatch",
    text: "illegal operation on a directory",
    file: true,
  },
  { name: "ENOTDIR", category: "type_mismatch", text: "Not a directory", file: true },
  { name: "ENOTEMPTY", category: "conflict", text: "Directory not empty", file: true },
  { name: "EROFS", category: "permission_denied", text: "Read-only file system", file: true },
  { name: "ENAMETOOLONG", category: "too_long", text: "File name too long" },
  { name: "ENAMETOOLONG", category: "too_long", text: "name too long" },
  { name: "ENOSPC", category: "unavailable", text: "No space left on device", retryable: false },
  { name: "EDQUOT", category: "unavailable", text: "Disk quota exceeded", retryable: false },
  { name: "EMFILE", category: "unavailable", text: "Too many open files" },
  { name: "ENFILE", category: "unavailable", text: "file table overflow" },
  { name: "EBUSY", category: "conflict", text: "resource busy", retryable: true },
  { name: "ETXTBSY", category: "conflict", text: "Text file busy", retryable: true },
  { name: "EAGAIN", category: "unavailable", text: "Resource temporarily unavailable" },
  { name: "ENOMEM", category: "unavailable", text: "Cannot allocate memory" },
  { name: "EXDEV", category: "invalid_value", text: "cross-device link" },
  { name: "ELOOP", category: "invalid_value", text: "Too many levels of symbolic links" },
  { name: "ELOOP", category: "invalid_value", text: "too many symbolic links" },
  { name: "EINVAL", category: "invalid_value", text: "Invalid argument" },
  { name: "EBADF", category: "invalid_value", text: "bad file descriptor" },
  { name: "EFBIG", category: "payload_too_large", text: "File too large" },
  { name: "E2BIG", category: "too_long", text: "Argument list too long" },
  { name: "ENOEXEC", category: "type_mismatch", text: "Exec format error" },
  { name: "EIO:", category: "server_error", text: "Input/output error" },
  { name: "ESTALE", category: "conflict", text: "Stale file handle" },
  { name: "EPIPE", category: "unavailable", text: "Broken pipe" },
  { name: "ECONNREFUSED", category: "unavailable", text: "Connection refused" },
  { name: "ECONNRESET", category: "unavailable", text: "Connection reset" },
  { name: "ECONNABORTED", category: "unavailable", text: "Software caused connection abort" },
  { name: "EHOSTUNREACH", category: "unavailable", text: "No route to host" },
  { name: "ENETUNREACH", category: "unavailable", text: "Network is unreachable" },
  { name: "ENOTFOUND", category: "unavailable", text: "Name or service not known" },
  { name: "EAI_AGAIN", category: "unavailable", text: "Temporary failure in name resolution" },
  { name: "ENOTCONN", category: "unavailable", text: "socket is not connected" },
  { name: "ETIMEDOUT", category: "timeout", text: "Connection timed out" },
  { name: "ETIMEDOUT", category: "timeout", text: "Operation timed out" },
  { name: "EADDRNOTAVAIL", category: "unavailable", text: "Cannot assign requested address" },
  { name: "EADDRINUSE", category: "conflict", text: "Address already in use" },
  { name: "EDEADLK", category: "deadlock", text: "Resource deadlock avoided" },
];

function rowsOf(errno: Errno): Row[] {
  const { name, category, text, file } = errno;
  const retry = errno.retryable === undefined ? {} : { retryable: errno.retryable };
  const rows: Row[] = [];
  if (file === true) {
    rows.push(
      [category, `${name}: ${text}, {w} '{path}'`, retry],
      [category, `${text}: '{path}'`, retry],
      [category, `\nopen {path}: ${text}`, retry],
      [category, ` open {path}: ${text}`, retry],
      [category, `cannot {w} '{path}': ${text}`, retry],
      [category, `cannot create directory '{path}': ${text}`, retry],
      [category, `cat: {path}: ${text}`, retry],
      [category, `${text} @ {w} - {path}`, retry],
    );
  }
  rows.push(
    [category, text, { ...retry, strength: 2 }],
    [category, name, { ...retry, strength: 2 }],
  );
  return rows;
}

export const ERRNO: readonly Row[] = ERRNOS.flatMap(rowsOf);

const WINDOWS: readonly (readonly [HintCategory, string, boolean?])[] = [
  ["not_found", "2 3 53 67 1168"],
  ["permission_denied", "5 1314 740"],
  ["conflict", "32 33 170", true],
  ["unique_violation", "80 183"],
  ["unavailable", "112 39", false],
  ["invalid_value", "87 123 161"],
  ["conflict", "145", false],
  ["too_long", "206"],
  ["type_mismatch", "267 193"],
  ["unavailable", "121 1450 1225 10053 10054 10061 10051 10065 11001"],
  ["timeout", "10060 1460 258"],
  ["conflict", "10048"],
];

export const WIN_ERROR: readonly Row[] = [
  ...WINDOWS.flatMap(([category, numbers, retryable]) =>
    numbers
      .split(" ")
      .map(
        (number): Row => [
          category,
          `[WinError ${number}]`,
          retryable === undefined ? {} : { retryable },
        ],
      ),
  ),
  ["not_found", "The system cannot find the"],
  ["permission_denied", "Access is denied", { strength: 2 }],
  ["unavailable", "There is not enough space on the disk", { retryable: false }],
];

export const SHELL: readonly Row[] = [
  ["unknown_tool", "command not found"],
  ["unknown_tool", "sh: {#}: {w}: not found"],
  ["unknown_tool", "sh: {w}: not found"],
  ["unknown_tool", "is not recognized as an internal or external command"],
  ["unknown_tool", "The term {w} is not recognized as"],
  ["unknown_tool", "is not recognized as a name of a cmdlet"],
  ["missing_field", "{key}: unbound variable"],
  ["missing_field", "{key}: parameter null or not set"],
  ["missing_field", "{key}: parameter not set"],
  ["permission_denied", "readonly variable"],
  ["syntax_error", "bad substitution"],
  ["syntax_error", "syntax error near unexpected token"],
  ["syntax_error", "syntax error: "],
  ["syntax_error", "unexpected EOF while looking for matching"],
  ["syntax_error", "parse error near"],
  ["syntax_error", "jq: parse error"],
  ["syntax_error", "jq: error: syntax error"],
  ["syntax_error", "ambiguous redirect"],
  ["type_mismatch", "cannot execute binary file"],
  ["type_mismatch", "integer expression expected"],
  ["type_mismatch", "numeric argument required"],
  ["type_mismatch", "value too great for base"],
  ["invalid_value", "invalid option -- {key}"],
  ["invalid_value", "unrecognized option {key}"],
  ["invalid_value", "invalid number"],
  ["invalid_value", "illegal option -- {key}"],
  ["missing_argument", "option requires an argument -- {key}"],
  ["missing_argument", "option {key} requires an argument"],
  ["missing_argument", "missing operand"],
  ["missing_argument", "missing file operand"],
  ["missing_argument", "missing destination file operand"],
  ["missing_argument", "option requires an argument"],
  ["missing_argument", "arguments are required: {keys}\n"],
  ["missing_argument", "arguments are required: {key}"],
  ["missing_argument", "argument {key}: expected {w} argument"],
  ["missing_argument", "argument {w}/{key}: expected {w} argument"],
  ["invalid_value", "argument {key}: invalid"],
  ["invalid_value", "argument {w}/{key}: invalid"],
  ["invalid_value", "argument {key}: not allowed with"],
  ["invalid_value", "unrecognized arguments: {key}"],
  ["missing_argument", "Missing option {key}"],
  ["missing_argument", "Missing argument {key}"],
  ["invalid_value", "Invalid value for '{w} / {key}'"],
  ["invalid_value", "Invalid value for {key}: "],
  ["invalid_value", "No such option: {key}"],
  ["invalid_value", "No such option {key}"],
  ["invalid_value", "Unknown option: {key}"],
  ["missing_argument", "Option {key} requires an argument"],
  ["unknown_tool", "No such command"],
  ["unknown_tool", "Unknown command"],
  ["null_dereference", "Cannot iterate over null"],
  ["null_dereference", "Cannot index null with"],
  ["type_mismatch", "Cannot iterate over"],
  ["type_mismatch", "Cannot index {w} with"],
  ["type_mismatch", "cannot be added"],
  ["type_mismatch", "cannot be parsed as a number"],
  ["unavailable", "Couldn't connect to server"],
  ["unavailable", "curl: (6)"],
  ["unavailable", "curl: (7)"],
  ["timeout", "curl: (28)"],
  ["unavailable", "curl: (35)"],
  ["unavailable", "curl: (52)"],
  ["unavailable", "curl: (55)"],
  ["unavailable", "curl: (56)"],
  ["unavailable", "curl: (60)", { retryable: false }],
  ["invalid_value", "curl: (3)"],
  ["not_found", "No rule to make target"],
  ["not_found", "Missing script:"],
  ["not_found", "cannot stat '{path}'"],
  ["conflict", "ERESOLVE"],
  ["authentication_failed", "a password is required"],
  ["authentication_failed", "sudo: {#} incorrect password attempt"],
  ["timeout", "[exit 124]", { strength: 3 }],
  ["unavailable", "Could not get lock"],
  ["not_found", "Unable to locate package"],
  ["other", "Segmentation fault"],
];
