// Owns a small Standard Schema for tests: required and optional fields with a type, nothing unknown.
import type { ArgumentSchema, SchemaIssue } from "@agenttx/model";

type FieldType = "string" | "number" | "boolean" | "any";

interface FieldTypes {
  string: string;
  number: number;
  boolean: boolean;
  any: unknown;
}

type Fields = Readonly<Record<string, FieldType | `${FieldType}?`>>;

type Shape<F extends Fields> = {
  readonly [K in keyof F as F[K] extends `${string}?` ? never : K]: FieldTypes[F[K] & FieldType];
} & {
  readonly [K in keyof F as F[K] extends `${string}?` ? K : never]?: F[K] extends `${infer T}?`
    ? FieldTypes[T & FieldType]
    : never;
};

/** `fields({ id: "string", note: "string?" })`. */
export function fields<const F extends Fields>(types: F): ArgumentSchema<unknown, Shape<F>> {
  return {
    "~standard": {
      version: 1,
      vendor: "agenttx-test",
      validate: (value) => {
        const issues = findIssues(types, value as Readonly<Record<string, unknown>>);
        return issues.length > 0 ? { issues } : { value: value as Shape<F> };
      },
    },
  };
}

function findIssues(types: Fields, value: Readonly<Record<string, unknown>>): SchemaIssue[] {
  const issues: SchemaIssue[] = [];
  for (const [name, type] of Object.entries(types)) {
    const given = value[name];
    const expected = type.replace("?", "");
    if (given === undefined) {
      if (!type.endsWith("?")) issues.push({ path: [name], message: "Required" });
    } else if (expected !== "any" && typeof given !== expected) {
      const message = `Expected ${expected}, received ${typeof given}`;
      issues.push({ path: [name], message });
    }
  }
  for (const name of Object.keys(value)) {
    if (!(name in types)) {
      issues.push({ path: [name], message: `Unrecognized key: "${name}"` });
    }
  }
  return issues;
}
