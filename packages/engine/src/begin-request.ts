// Owns repeated begins (P1): the transaction that a request id has opened.
//
//   B1 The mark is in the batch that opens the transaction: there is no moment between the two.
//   B2 It outlives restarts and the transaction, and goes with the transaction's other records.
import { AgentTxError, type RecordWrite, type Store } from "@agenttx/model";
import { requestDigest, requireRequestId } from "./requests.js";

interface BeginMark {
  readonly id: string;
  readonly digest: string;
}

/** The transaction's own note of its mark, for retention; no request id starts with NUL. */
export const BEGIN_NOTE = "\u0000begin";

/** What was asked, for comparison; the request id itself is not part of it. */
export function beginDigest(options: Readonly<Record<string, unknown>>): string {
  const { requestId: _id, ...content } = options;
  return requestDigest("begin", "", content);
}

/** The id of the transaction that this request opened before, or null. */
export async function repeatedBegin(
  store: Store,
  namespace: string,
  requestId: string,
  digest: string,
): Promise<string | null> {
  requireRequestId(requestId);
  const bytes = await store.readRecord("", {
    space: "meta",
    name: markName(requestId),
    namespace,
  });
  if (bytes === null) return null;
  // Written by beginMarks alone.
  const mark = JSON.parse(Buffer.from(bytes).toString("utf8")) as BeginMark;
  if (mark.digest === digest) return mark.id;
  throw new AgentTxError(
    "REQUEST_ID_REUSED",
    "This request id began a transaction with other content; nothing was begun. Use a fresh id.",
    { details: { field: "requestId" } },
  );
}

/** The records that the opening batch carries. */
export function beginMarks(requestId: string, id: string, digest: string): RecordWrite[] {
  const mark: BeginMark = { id, digest };
  return [
    { space: "meta", name: markName(requestId), value: Buffer.from(JSON.stringify(mark)) },
    { space: "request", name: BEGIN_NOTE, value: Buffer.from(requestId) },
  ];
}

/** The removal of a mark, from the transaction's note of it. */
export function removeMark(note: Uint8Array): RecordWrite {
  return { space: "meta", name: markName(Buffer.from(note).toString("utf8")), value: null };
}

function markName(requestId: string): string {
  return `begin/${requestId}`;
}
