// Owns the shape of a text rule and of the tables that the family files hold.

import type { HintCategory } from "@agenttx/model";
import type { Strength } from "./finding.js";
import { isRetryable } from "./finding.js";
import { literalOf } from "./template.js";

/** What a reader found behind or around a match: raw names and, if it knows better, a category. */
export interface Reading {
  readonly names: readonly string[];
  readonly category?: HintCategory;
  readonly retryable?: boolean;
  /** True when what stands around the literal rules this row out. */
  readonly refused?: boolean;
}

/** Looks around a match for more than a template can say. Must look a bounded distance only. */
export type Reader = (text: string, start: number, end: number) => Reading | null;

/** Options of one row; all default to the table's or the category's. */
export interface RowOptions {
  readonly retryable?: boolean;
  /** One error of a list: later matches add their keys. */
  readonly many?: boolean;
  readonly strength?: Strength;
  readonly read?: Reader;
}

/** One rule as written in a table. */
export type Row = readonly [category: HintCategory, template: string, options?: RowOptions];

/** One rule, ready to be tried at a position where its literal stands. */
export interface Rule {
  readonly name: string;
  readonly category: HintCategory;
  readonly literal: string;
  readonly template: string;
  readonly retryable: boolean;
  readonly many: boolean;
  readonly strength: Strength;
  readonly read: Reader | null;
  readonly order: number;
  /** Compiled at the first use, then kept. */
  pattern: RegExp | null;
}

/** Turns the tables into rules; the order of the rows is kept and breaks ties. */
export function buildRules(
  tables: readonly { family: string; strength: Strength; rows: readonly Row[] }[],
): Rule[] {
  const rules: Rule[] = [];
  for (const { family, strength, rows } of tables) {
    for (const [category, template, options] of rows) {
      rules.push({
        name: `${family}/${category}`,
        category,
        literal: literalOf(template),
        template,
        retryable: options?.retryable ?? isRetryable(category),
        many: options?.many ?? false,
        strength: options?.strength ?? strength,
        read: options?.read ?? null,
        order: rules.length,
        pattern: null,
      });
    }
  }
  return rules;
}
