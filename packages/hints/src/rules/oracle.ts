// Owns Oracle's ORA codes and IBM's SQLCODEs. The code decides, so every language is covered.

import type { HintCategory } from "@agenttx/model";
import type { Row } from "../rule.js";

const CODES: readonly (readonly [HintCategory, string, boolean?])[] = [
  ["unique_violation", "00001"],
  [
    "unavailable",
    "00018 00020 01012 01033 01034 01089 01090 03113 03114 03135 04031 04068 12505 12514 12516 12518 12519 12520 12528 12537 12541 12545 12547 12560 12571 17002 25408",
    true,
  ],
  ["unavailable", "00054", true],
  ["deadlock", "00060"],
  ["timeout", "00051 01013 02049 12170 12535 30006 01013 03136"],
  ["unavailable", "01652 01653 01654 01536 01688 30036 00257", false],
  ["undefined_column", "00904 00918"],
  ["undefined_table", "00942 04043"],
  [
    "syntax_error",
    "00900 00903 00905 00906 00907 00908 00911 00917 00920 00921 00922 00923 00926 00928 00933 00936 00947 00913 00979 00937 01756 06550 00984 01789",
  ],
  ["type_mismatch", "00932 01790 06553"],
  ["not_null_violation", "01400 01407"],
  ["not_found", "01403 04080 02289 01918"],
  ["other", "01476"],
  ["out_of_range", "01426 01438 01455 01841 01873 01847 22053 01850 01851"],
  ["too_long", "01401 12899 01489 00972 01461 01704"],
  ["invalid_value", "01722 01843 01858 01861 01830 01840 06502 01481 40441 01839 01821"],
  ["authentication_failed", "01017 01005 28000 28001 01004 28040 01045 28002"],
  ["permission_denied", "01031 01749 01720 28115 01456 16000 01950"],
  ["check_violation", "02290"],
  ["foreign_key_violation", "02291 02292 02298"],
  ["unique_violation", "00955 01430 02299"],
  ["serialization_failure", "08177 01555 08176"],
  ["missing_argument", "01008 06553 17041"],
  ["invalid_value", "01036 06576"],
  ["conflict", "08006"],
];

const TEMPLATES: readonly Row[] = [
  ["not_null_violation", "ORA-01400:{}({col})", { strength: 1 }],
  ["not_null_violation", "ORA-01407:{}({col})", { strength: 1 }],
  ["too_long", 'ORA-12899: {}"{col}" (', { strength: 1 }],
  ["undefined_column", "ORA-00904: {col}", { strength: 1 }],
  ["unique_violation", "ORA-00001: {} columns ({keys})", { strength: 1 }],
  ["undefined_column", "ORA-00918: {col}: column ambiguously", { strength: 1 }],
  ["not_null_violation", "SQLCODE=-407"],
  ["unique_violation", "SQLCODE=-803"],
  ["foreign_key_violation", "SQLCODE=-530"],
  ["foreign_key_violation", "SQLCODE=-532"],
  ["check_violation", "SQLCODE=-545"],
  ["undefined_column", "SQLCODE=-206"],
  ["undefined_table", "SQLCODE=-204"],
  ["syntax_error", "SQLCODE=-104"],
  ["too_long", "SQLCODE=-302"],
  ["deadlock", "SQLCODE=-911"],
  ["timeout", "SQLCODE=-913"],
  ["permission_denied", "SQLCODE=-551"],
];

function codeRows(): Row[] {
  const rows: Row[] = [];
  for (const [category, codes, retryable] of CODES) {
    for (const code of new Set(codes.split(" "))) {
      rows.push([category, `ORA-${code}`, retryable === undefined ? {} : { retryable }]);
    }
  }
  return rows;
}

export const ORACLE: readonly Row[] = [...TEMPLATES, ...codeRows()];
