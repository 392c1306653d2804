// Owns JSON bodies: the protobuf JSON mapping, strict. Unknown members, wrong types and numbers out
// of range are refused before a call sees them. 64-bit numbers are text, bytes are base64.

import { AgentTxError } from "@agenttx/model";
import { agentTxService } from "@agenttx/wire";
import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import { methodNamed, registry } from "./descriptors.js";

type Name = keyof typeof agentTxService;
interface Codec {
  requestDeserialize(bytes: Buffer): unknown;
  responseSerialize(value: unknown): Buffer;
}

/** The request of a call, from a body and the members that its path gave. */
export function decodeRequest(name: Name, body: JsonValue): unknown {
  const { input } = methodNamed(name);
  let bytes: Uint8Array;
  try {
    bytes = toBinary(input, fromJson(input, body, { ignoreUnknownFields: false, registry }));
  } catch (error) {
    throw new AgentTxError(
      "INVALID_ARGUMENT",
      `The body is not a ${input.name}: ${reason(error)}`,
      {
        details: { field: "body" },
      },
    );
  }
  return (agentTxService[name] as Codec).requestDeserialize(Buffer.from(bytes));
}

/** Members with their default value are written too, so that a reader sees every one. */
export function encodeResponse(name: Name, response: unknown): JsonValue {
  const { output } = methodNamed(name);
  const bytes = (agentTxService[name] as Codec).responseSerialize(response);
  return toJson(output, fromBinary(output, bytes), { alwaysEmitImplicit: true, registry });
}

/** The parser's own words name members and types; values are cut away. */
function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : "unreadable";
  return text.replace(/^cannot decode message \S+ from JSON: /, "").slice(0, 120);
}
