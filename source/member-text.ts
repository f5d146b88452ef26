import { skipSpace, valueEnd } from './value-end.ts';

/**
 * The text of a member of the object that `objectText` is, character by character as it was sent: `{"bill": {…}}`, `bill`.
 * `objectText` must be JSON. Of a repeated name the last counts, as JSON.parse has it. Null when there is no such member.
 */
export function memberText(objectText: string, name: string): string | null {
  let found: string | null = null;
  let at = skipSpace(objectText, skipSpace(objectText, 0) + 1);
  while (at < objectText.length && objectText[at] !== '}') {
    const nameEnd = valueEnd(objectText, at);
    const memberName: unknown = JSON.parse(objectText.slice(at, nameEnd));
    const start = skipSpace(objectText, skipSpace(objectText, nameEnd) + 1);
    const end = valueEnd(objectText, start);
    if (memberName === name) found = objectText.slice(start, end);
    at = skipSeparator(objectText, end);
  }
  return found;
}

/** The texts of the elements of the array that `arrayText` is. `arrayText` must be JSON. */
export function elementTexts(arrayText: string): string[] {
  const texts: string[] = [];
  let at = skipSpace(arrayText, skipSpace(arrayText, 0) + 1);
  while (at < arrayText.length && arrayText[at] !== ']') {
    const end = valueEnd(arrayText, at);
    texts.push(arrayText.slice(at, end));
    at = skipSeparator(arrayText, end);
  }
  return texts;
}

/** From the end of a value to the next one, or to the closing bracket. */
function skipSeparator(text: string, end: number): number {
  const at = skipSpace(text, end);
  return text[at] === ',' ? skipSpace(text, at + 1) : at;
}
