/**
 * The digits of an ID that came as a number: of a record that is held under them as a text, that is another form. A number of more digits
 * than a double holds is looked for in the text. More than one only where the text has others that no double tells apart from it.
 */
export function digitsOf(id: unknown, text: string): string[] {
  if (typeof id !== 'number') return [];
  if (Number.isSafeInteger(id)) return [String(id)];
  const numbers = [...text.matchAll(/"id"\s*:\s*(\d+)(?![\d.eE])/g)].flatMap(([, digits = '']) => digits);
  return [...new Set(numbers.filter((digits) => Number(digits) === id))];
}
