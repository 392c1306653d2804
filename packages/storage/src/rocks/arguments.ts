// Owns defaults and checks of the arguments that cross as plain numbers and names.

import { resolve } from "node:path";
import { AgentTxError, limits } from "@agenttx/model";
import type { BeginOptions, RecordKey, RecordSpace } from "../contract.js";
import { namespaceBytes, recordNameBytes, wholeNumber } from "../keys.js";
import { RECORD_SPACE } from "./batch-format.js";

const U32_MAX = 0xffff_ffff;

export interface BeginArguments {
  readonly serializable: boolean;
  readonly bytesMax: number;
  readonly keysMax: number;
}

export interface RecordArguments {
  readonly space: number;
  readonly step: number;
  readonly seq: number;
  readonly name: string;
}

/** Throws INVALID_ARGUMENT. */
export function beginArguments(options: BeginOptions): BeginArguments {
  const { isolation = "read-committed" } = options;
  if (isolation !== "read-committed" && isolation !== "serializable") {
    throw new AgentTxError(
      "INVALID_ARGUMENT",
      "isolation is read-committed or serializable; nothing was written.",
    );
  }
  const { bytesMax, keysMax } = options;
  return {
    serializable: isolation === "serializable",
    bytesMax: cap(bytesMax ?? limits.TRANSACTION_BYTES_MAX_DEFAULT, "bytesMax"),
    keysMax: cap(keysMax ?? limits.TRANSACTION_KEYS_MAX_DEFAULT, "keysMax"),
  };
}

function cap(value: number, what: string): number {
  return wholeNumber(value, what, 0, Number.MAX_SAFE_INTEGER);
}

/** Throws INVALID_ARGUMENT. */
export function recordArguments(key: RecordKey): RecordArguments {
  const { step = 0, seq = 0, name = "" } = key;
  if (name !== "") recordNameBytes(name);
  return {
    space: spaceNumber(key.space),
    step: wholeNumber(step, "step of the record", 0, U32_MAX),
    seq: wholeNumber(seq, "seq of the record", 0, Number.MAX_SAFE_INTEGER),
    name,
  };
}

/** Throws INVALID_ARGUMENT for a space that does not exist. */
export function spaceNumber(space: RecordSpace): number {
  const number: number | undefined = RECORD_SPACE[space];
  if (number !== undefined) return number;
  throw new AgentTxError("INVALID_ARGUMENT", `There is no record space ${String(space)}.`);
}

/** Of a directory, so that a later change of the working directory means nothing. */
export function absolutePath(path: string): string {
  if (typeof path === "string" && path !== "" && !path.includes("\u0000")) return resolve(path);
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    "path is the name of a directory, without NUL; nothing was done.",
  );
}

/** The namespace, "" when none is named. Throws INVALID_ARGUMENT. */
export function checkedNamespace(namespace: string | undefined): string {
  if (namespace === undefined || namespace === "") return "";
  namespaceBytes(namespace);
  return namespace;
}
