// Owns the protocol as data: the descriptor set that `@agenttx/wire` ships.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createFileRegistry, type DescMethod, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const file = createRequire(import.meta.url).resolve("@agenttx/wire/descriptor.binpb");
export const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(file)));

const service = registry.getService("agenttx.v1.AgentTxService");

/** Every call of the service, by its name in TypeScript. Throws for a name that does not exist. */
export function methodNamed(name: string): DescMethod {
  const method = service?.methods.find(({ localName }) => localName === name);
  if (method === undefined) throw new Error(`the protocol has no call ${name}`);
  return method;
}

export function methodNames(): readonly string[] {
  return service?.methods.map(({ localName }) => localName) ?? [];
}
