// Owns database messages in Korean, Traditional Chinese, Swedish, Ukrainian, Georgian, Polish,
// Turkish and Czech. A template holds the words that stay the same between versions.

import type { Row } from "../rule.js";
import { readDetailKey } from "./database-details.js";

const detail = { read: readDetailKey };

const KOREAN: readonly Row[] = [
  ["out_of_range", "자료형 범위를 초과했습니다"],
  ["out_of_range", "필드 오버플로우"],
  ["serialization_failure", "순차적 액세스가 불가능합니다"],
  ["serialization_failure", "serialize 접근을 할 수 없음"],
  ["timeout", "잠금 대기 시간 초과"],
  ["authentication_failed", "password 인증을 실패했습니다"],
  ["unavailable", "최대 동시 접속자 수를 초과"],
  ["unavailable", "데이터베이스 시스템이"],
  ["type_mismatch", '열 "{col}"은(는) {w} 자료형인데'],
  ["undefined_column", "칼럼 참조 {col} 가 모호합니다"],
  ["undefined_column", "{col} 칼럼 없음"],
  ["invalid_value", "열거형의 입력 값이 잘못됨"],
];

const TRADITIONAL_CHINESE: readonly Row[] = [
  ["too_long", "而言太長"],
  ["out_of_range", "超出型別"],
  ["out_of_range", "超過範圍"],
  ["out_of_range", "欄位溢出"],
  ["out_of_range", "欄位值超出範圍"],
  ["serialization_failure", "無法序列化存取"],
  ["timeout", "因為陳述式逾時"],
  ["timeout", "由於鎖定逾時"],
  ["authentication_failed", "密碼驗證使用者"],
  ["unavailable", "客戶端過多"],
  ["unavailable", "資料庫系統正在"],
  ["type_mismatch", "欄位 {col} 是型別"],
  ["undefined_column", "欄位參考 {col} 模稜兩可"],
  ["invalid_value", "的輸入值無效"],
];

const SWEDISH: readonly Row[] = [
  ["not_null_violation", "null-värde i kolumn {col}"],
  ["foreign_key_violation", "bryter mot främmande nyckel-villkoret", detail],
  ["unique_violation", "bryter mot unik-villkor", detail],
  ["check_violation", "bryter mot check-villkor"],
  ["undefined_column", "kolumnen {col} existerar inte"],
  ["undefined_column", "kolumnen {col} finns inte"],
  ["undefined_column", "kolumn {col} i relation {w} existerar inte"],
  ["undefined_column", "kolumnreferens {col} är tvetydig"],
  ["undefined_table", "relationen {w} existerar inte"],
  ["type_mismatch", "kolumn {col} har typ"],
  ["invalid_value", "ogiltig indatasyntax"],
  ["invalid_value", "ogiltigt indata-värde för enum"],
  ["too_long", "värdet för långt för typen"],
  ["out_of_range", "utanför giltigt"],
  ["out_of_range", "overflow i numeric-fält"],
  ["permission_denied", "rättighet saknas för"],
  ["serialization_failure", "kunde inte serialisera åtkomst"],
  ["timeout", "på grund av sats-timeout"],
  ["timeout", "på grund av lås-timeout"],
  ["deadlock", "deadlock upptäckt"],
  ["authentication_failed", "Lösenordsautentisering misslyckades"],
  ["unavailable", "för många klienter"],
  ["unavailable", "databassystemet"],
];

const UKRAINIAN: readonly Row[] = [
  ["not_null_violation", "null значення в стовпці {col}"],
  ["foreign_key_violation", "порушує обмеження зовнішнього ключа", detail],
  ["unique_violation", "порушують обмеження унікальності", detail],
  ["check_violation", "порушує перевірне обмеження"],
  ["undefined_column", "стовпець {col} не існує"],
  ["undefined_column", "стовпця {col} не існує"],
  ["undefined_column", "стовпець {col} зв'язку {w} не існує"],
  ["undefined_column", "посилання на стовпець {col} є неоднозначним"],
  ["undefined_table", "відношення {w} не існує"],
  ["type_mismatch", "стовпець {col} має тип"],
  ["invalid_value", "неприпустимий синтаксис для типу"],
  ["invalid_value", "неприпустиме вхідне значення для переліку"],
  ["too_long", "значення занадто довге для типу"],
  ["out_of_range", "поза діапазоном"],
  ["out_of_range", "надлишок поля numeric"],
  ["permission_denied", "немає дозволу для"],
  ["syntax_error", "синтаксична помилка"],
  ["deadlock", "виявлено взаємне блокування"],
  ["serialization_failure", "не вдалося серіалізувати доступ"],
  ["timeout", "скасовано через тайм-аут"],
  ["authentication_failed", "не пройшов автентифікацію"],
  ["unavailable", "вже забагато клієнтів"],
  ["unavailable", "система бази даних"],
];

const GEORGIAN: readonly Row[] = [
  ["not_null_violation", "ნულოვანი მნიშვნელობა სვეტში {col}"],
  ["unique_violation", "არღვევს უნიკალურ შეზღუდვას"],
  ["check_violation", "არღვევს შემოწმების შეზღუდვას"],
  ["undefined_column", "სვეტი არ არსებობს: {col}"],
  ["undefined_column", "სვეტი {col} არ არსებობს"],
  ["undefined_column", "სვეტი {col} ურთიერთობაში {w} არ არსებობს"],
  ["undefined_table", "ურთიერთობა {w} არ არსებობს"],
  ["deadlock", "ნაპოვნია ურთიერთბლოკირება"],
  ["permission_denied", "წვდომა აკრძალულია"],
];

const POLISH: readonly Row[] = [
  ["not_null_violation", "pusta wartość w kolumnie {col}"],
  ["foreign_key_violation", "narusza klucz obcy", detail],
  ["foreign_key_violation", "narusza ograniczenie klucza obcego", detail],
  ["unique_violation", "narusza ograniczenie unikalności", detail],
  ["check_violation", "narusza ograniczenie sprawdzające"],
  ["undefined_column", "kolumna {col} nie istnieje"],
  ["undefined_column", "kolumna {col} relacji {w} nie istnieje"],
  ["undefined_table", "relacja {w} nie istnieje"],
  ["invalid_value", "nieprawidłowa składnia wejścia"],
  ["too_long", "wartość zbyt długa dla typu"],
  ["permission_denied", "odmowa dostępu do"],
  ["syntax_error", "błąd składni"],
  ["deadlock", "wykryto zakleszczenie"],
];

const TURKISH: readonly Row[] = [
  ["not_null_violation", "{col} kolonundaki null değer"],
  ["not_null_violation", "{col} sütununda"],
  ["unique_violation", "tekil kısıtlamasını", detail],
  ["unique_violation", "tekil kısıtlaması", detail],
  ["foreign_key_violation", "foreign key constraint'ini", detail],
  ["foreign_key_violation", "yabancı anahtar kısıtlamasını", detail],
  ["undefined_column", "{col} kolonu mevcut değil"],
  ["undefined_column", "{col} sütunu mevcut değil"],
  ["undefined_table", "nesnesi mevcut değil"],
  ["deadlock", "ölümcül kilitlenme"],
  ["syntax_error", "söz dizimi hatası"],
];

const CZECH: readonly Row[] = [
  ["not_null_violation", "null hodnota ve sloupci {col}"],
  ["unique_violation", "porušuje jedinečnost", detail],
  ["unique_violation", "porušuje unikátní omezení", detail],
  ["foreign_key_violation", "porušuje cizí klíč", detail],
  ["foreign_key_violation", "porušuje omezení cizího klíče", detail],
  ["undefined_column", "sloupec {col} neexistuje"],
  ["undefined_table", "relace {w} neexistuje"],
  ["invalid_value", "neplatná vstupní syntaxe"],
  ["permission_denied", "přístup k {w} odepřen"],
  ["syntax_error", "syntaktická chyba"],
];

export const EAST_AND_NORTH: readonly Row[] = [
  ...KOREAN,
  ...TRADITIONAL_CHINESE,
  ...SWEDISH,
  ...UKRAINIAN,
  ...GEORGIAN,
  ...POLISH,
  ...TURKISH,
  ...CZECH,
];
