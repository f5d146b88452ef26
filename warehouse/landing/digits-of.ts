/**
 * Returns the digits of an ID that came as a number: if the record is held under them as a text, it is the same one in another form. A number with
 * more digits than a double holds is looked up in the text. There is more than one result only if the text has several numbers that are equal as
 * doubles.
 */
export function digitsOf(id: unknown, text: string): string[] {
  if (typeof id !== 'number') return [];
  if (Number.isSafeInteger(id)) return [String(id)];
  const numbers = [...text.matchAll(/"id"\s*:\s*(\d+)(?![\d.eE])/g)].flatMap(([, digits = '']) => digits);
  return [...new Set(numbers.filter((digits) => Number(digits) === id))];
}
