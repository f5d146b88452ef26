/**
 * Why a record with such a number cannot land: `numeric` holds 131,072 digits before the point, and the sum of two such numbers would have one
 * more.
 */
export const hugeNumber =
  'has a number of more than 90,000 digits before the point, which cannot be summed up';

/** Why a record cannot land if Postgres would expand its numbers, each time it compares or copies the record, to many times their length. */
export const expandingNumbers =
  'has numbers whose exponents stand for more than 5,000 digits in one of them, or 1,000,000 in all';

const mostDigits = 90_000;

/**
 * Characters added by one number: a double has 308 digits. And by all numbers of a record: as many as its text may well have, because an honest
 * amount has an exponent of two digits, if any.
 */
const mostCharactersAdded = { byOne: 5_000, inAll: 1_000_000 };

/**
 * Whether a JSON text, or a decimal in a string, has a number with more than 90,000 digits before the point, written out or by its exponent,
 * that `numeric` still holds.
 */
export function hasHugeNumber(text: string): boolean {
  return problemOfNumbers(text) === hugeNumber;
}

/** The problem with the numbers of a JSON text: `hugeNumber`, `expandingNumbers` or undefined. Reads each character once. */
export function problemOfNumbers(text: string): string | undefined {
  if (text.length <= mostDigits && !withExponent.test(text)) return undefined;
  let added = 0;
  let problem: string | undefined;
  someNumber(text, (number) => {
    const byThis = charactersAdded(number);
    added += byThis;
    if (isHuge(number)) problem = hugeNumber;
    else if (byThis > mostCharactersAdded.byOne || added > mostCharactersAdded.inAll)
      problem = expandingNumbers;
    return problem !== undefined;
  });
  return problem;
}

/**
 * Most texts are short and have no exponents. An ID such as `1e5` is preceded by a quotation mark. The lookbehind comes last: at the beginning
 * it would take 20 times as long.
 */
const withExponent = /\d[eE](?<=(?:^|[[:,\s])[-+]?\.?\d[\d.]*[eE])[+-]?\d/;

interface NumberWritten {
  /** The number as in the text, without its sign. */
  readonly literal: string;
  /** The digits before the point. */
  readonly digits: string;
  readonly decimals: string;
  readonly exponent: number;
}

/** Postgres itself refuses a number with more digits than `numeric` holds. */
function isHuge({ digits, exponent }: NumberWritten): boolean {
  const before = digits.length + exponent;
  return before > mostDigits && before <= heldBefore;
}

/** The number of characters by which `numeric`, which has no exponents, is longer as text. */
function charactersAdded({ literal, digits, decimals, exponent }: NumberWritten): number {
  if (exponent === 0) return 0;
  const before = Math.max(1, digits.length + exponent);
  const after = Math.max(0, decimals.length - exponent);
  if (before > heldBefore || after > heldAfter) return 0;
  return Math.max(0, before + (after === 0 ? 0 : 1 + after) - literal.length);
}

/** The maximum digits before and after the point in `numeric`. */
const heldBefore = 131_072;
const heldAfter = 16_383;

/** Whether any number of a JSON text, outside of strings, satisfies `is`. */
function someNumber(text: string, is: (number: NumberWritten) => boolean): boolean {
  const number = /(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/y;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (character === '"') {
      index = endOfString(text, index);
    } else if (character >= '0' && character <= '9') {
      number.lastIndex = index;
      const [literal = '', digits = '', decimals = '', exponent = '0'] = number.exec(text) ?? [];
      if (is({ literal, digits, decimals, exponent: Number(exponent) })) return true;
      index += literal.length - 1;
    }
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index;
}
