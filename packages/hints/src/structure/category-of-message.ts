// Owns the reading of a complaint about a known field: "must be a number", "can't be blank".
// Used only where a structure already says which field it is. Invariant: linear, bounded patterns.

import type { HintCategory } from "@agenttx/model";

const TYPES =
  "string|str|text|number|numeric|int|integer|long|float|double|decimal|bool|boolean|array|list|object|dict|dictionary|map|date|datetime|uuid";

const PHRASES: readonly (readonly [HintCategory, RegExp])[] = [
  [
    "unique_violation",
    /already (?:exists|been taken|in use|registered|used)|must be unique|duplicate|is taken/i,
  ],
  [
    "invalid_value",
    /object does not exist|is not a valid choice|not permitted|not allowed(?! to be (?:empty|blank|null))|unknown|unrecognized|unexpected|unsupported/i,
  ],
  [
    "missing_field",
    /required|is missing|missing|(?:must|should|may|can)(?: ?not|n't|not) be (?:null|blank|empty|undefined|none)|not allowed to be (?:empty|null)|can't be blank|can't be empty|received undefined|is null/i,
  ],
  [
    "too_long",
    /too long|(?:at most|more than|greater than|exceed\w{0,3}|shorter than or equal to|less than or equal to|maximum(?: length)?(?: is| of)?) \d{1,9} (?:char|byte|code)|longer than|max(?:imum)?[ _]length|length must be less/i,
  ],
  [
    "type_mismatch",
    new RegExp(
      `(?:must|should) be (?:an? |of type |one of type |a valid )?["'\`]?(?:${TYPES})\\b|expected (?:an? )?["'\`]?(?:${TYPES})\\b|valid (?:integer|number|boolean|int)\\b|not an? (?:valid )?(?:${TYPES})\\b|wrong type|type mismatch|of type|could not be converted|cannot be converted|not convertible`,
      "i",
    ),
  ],
  ["not_found", /does not exist|not found|no such|doesn't exist/i],
  ["permission_denied", /forbidden|permission|not authori[sz]ed/i],
];

/** The category of a complaint; `invalid_value` when its words are not known. */
export function categoryOfMessage(message: string): HintCategory {
  const text = message.slice(0, 600);
  for (const [category, phrase] of PHRASES) if (phrase.test(text)) return category;
  return "invalid_value";
}
