/**
 * Why a record with such a number cannot land: `numeric` holds 131,072 digits before the point, and a sum of two that have as many is one
 * too many.
 */
export const hugeNumber =
  'has a number of more than 90,000 digits before the point, which cannot be summed up';

const mostDigits = 90_000;

/**
 * Whether a JSON text, or a decimal that is told as text, has a number with more digits before the point than 90,000, written out or by its
 * exponent, that `numeric` holds.
 */
export function hasHugeNumber(text: string): boolean {
  // Most texts are short, and have nothing that looks like such an exponent.
  return (text.length > mostDigits || /\d[eE]\+?\d{5}/.test(text)) && someNumber(text, isHuge);
}

/** One with more digits than `numeric` holds is refused by Postgres, which says so. */
function isHuge(digits: string, exponent: string | undefined): boolean {
  const before = digits.length + Number(exponent ?? 0);
  return before > mostDigits && before <= 131_072;
}

/** Of the numbers of a JSON text, whatever stands in its strings: the digits before the point, and the exponent. */
function someNumber(text: string, is: (digits: string, exponent: string | undefined) => boolean): boolean {
  const number = /(\d+)(?:\.\d+)?(?:[eE]([+-]?\d+))?/y;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (character === '"') {
      index = endOfString(text, index);
    } else if (character >= '0' && character <= '9') {
      number.lastIndex = index;
      const [literal = '', digits = '', exponent] = number.exec(text) ?? [];
      if (is(digits, exponent)) return true;
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
