import { skipSeparator, walkMembers } from './member-text.ts';
import { skipSpace, valueEnd } from './value-end.ts';

/**
 * The records of a list response, each character by character as the service wrote it, in the order of JSON.parse.
 * `pageText` must be a JSON object whose member `plural` is an array. Each character is looked at once:
 * the records are nearly all of a page.
 */
export function recordTexts(pageText: string, plural: string): string[] {
  let records: string[] | undefined;
  walkMembers(pageText, (name, start) => {
    if (name !== plural || pageText[start] !== '[') return valueEnd(pageText, start);
    const elements = elementTexts(pageText, start);
    records = elements.texts;
    return elements.end;
  });
  if (records === undefined) throw new TypeError(`The page has no array "${plural}".`);
  return records;
}

/** The texts of the elements of the array that begins at `start`, and where it ends. */
function elementTexts(text: string, start: number): { texts: string[]; end: number } {
  const texts: string[] = [];
  let at = skipSpace(text, start + 1);
  while (at < text.length && text[at] !== ']') {
    const end = valueEnd(text, at);
    texts.push(text.slice(at, end));
    at = skipSeparator(text, end);
  }
  return { texts, end: at + 1 };
}
