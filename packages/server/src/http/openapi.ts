// Owns the OpenAPI document. It is derived from the protocol's descriptors and the route table, so
// it cannot say anything else than what the server does.

import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescMethod,
  ScalarType,
} from "@bufbuild/protobuf";
import { methodNamed } from "./descriptors.js";
import { type Route, STREAM_ROUTES, UNARY_ROUTES } from "./routes.js";

type Schema = Record<string, unknown>;

/** OpenAPI 3.1. */
export function openApiDocument(version: string): Record<string, unknown> {
  const schemas: Record<string, Schema> = {};
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of [...UNARY_ROUTES, ...STREAM_ROUTES]) {
    const streaming = STREAM_ROUTES.some(({ call }) => call === route.call);
    const item = paths[route.path] ?? {};
    item[route.method] = operation(route, methodNamed(route.call), streaming, schemas);
    paths[route.path] = item;
  }
  return {
    openapi: "3.1.0",
    info: { title: "AgentTx", version, license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      schemas: { ...sorted(schemas), Problem: PROBLEM },
    },
    security: [{ bearer: [] }, {}],
  };
}

function operation(
  route: Route,
  method: DescMethod,
  streaming: boolean,
  schemas: Record<string, Schema>,
): Schema {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const fields = method.input.fields.filter(({ jsonName }) => !inPath.includes(jsonName));
  const parameters = [
    ...inPath.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
    ...(route.method === "get"
      ? fields.map((field) => ({
          name: field.jsonName,
          in: "query",
          schema: fieldSchema(field, schemas),
        }))
      : []),
  ];
  const output = reference(method.output, schemas);
  const type = streaming ? "text/event-stream" : "application/json";
  const body = { content: { "application/json": { schema: bodySchema(fields, schemas) } } };
  return {
    operationId: route.call,
    summary: route.summary,
    parameters,
    ...(route.method === "post" ? { requestBody: body } : {}),
    responses: {
      "200": { description: "Done", content: { [type]: { schema: output } } },
      default: {
        description: "Refused",
        content: {
          "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
        },
      },
    },
  };
}

function bodySchema(fields: readonly DescField[], schemas: Record<string, Schema>): Schema {
  const properties = Object.fromEntries(
    fields.map((field) => [field.jsonName, fieldSchema(field, schemas)]),
  );
  return { type: "object", additionalProperties: false, properties };
}

function reference(message: DescMessage, schemas: Record<string, Schema>): Schema {
  if (schemas[message.name] === undefined) {
    schemas[message.name] = {}; // Against messages that contain themselves.
    schemas[message.name] = bodySchema(message.fields, schemas);
  }
  return { $ref: `#/components/schemas/${message.name}` };
}

function fieldSchema(field: DescField, schemas: Record<string, Schema>): Schema {
  switch (field.fieldKind) {
    case "scalar":
      return scalarSchema(field.scalar);
    case "enum":
      return enumSchema(field.enum);
    case "message":
      return reference(field.message, schemas);
    case "list":
      return { type: "array", items: itemSchema(field, schemas) };
    case "map":
      return {
        type: "object",
        additionalProperties:
          field.mapKind === "scalar" ? scalarSchema(field.scalar) : itemSchema(field, schemas),
      };
  }
}

function itemSchema(
  field: {
    readonly scalar?: ScalarType | undefined;
    readonly enum?: DescEnum | undefined;
    readonly message?: DescMessage | undefined;
  },
  schemas: Record<string, Schema>,
): Schema {
  if (field.scalar !== undefined) return scalarSchema(field.scalar);
  if (field.enum !== undefined) return enumSchema(field.enum);
  return field.message === undefined ? {} : reference(field.message, schemas);
}

function enumSchema(desc: DescEnum): Schema {
  return { type: "string", enum: desc.values.map(({ name }) => name) };
}

function scalarSchema(scalar: ScalarType): Schema {
  switch (scalar) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.BYTES:
      return { type: "string", format: "byte" };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: "number" };
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return { type: "string", pattern: "^-?[0-9]+$" };
    default:
      return { type: "integer" };
  }
}

const PROBLEM: Schema = {
  type: "object",
  required: ["type", "title", "status", "code"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    code: { type: "string", description: "Error code of docs/errors.md" },
    detail: { type: "string" },
    retryable: { type: "boolean" },
    details: { type: "object", additionalProperties: { type: "string" } },
  },
};

function sorted(schemas: Record<string, Schema>): Record<string, Schema> {
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
}
