import { elementTexts, memberText } from './member-text.ts';

/**
 * The records of a list response, each character by character as the service wrote it, in the order of JSON.parse.
 * `pageText` must be a JSON object whose member `plural` is an array (`ListPage.text` is).
 */
export function recordTexts(pageText: string, plural: string): string[] {
  const records = memberText(pageText, plural);
  if (records?.[0] !== '[') throw new TypeError(`The page has no array "${plural}".`);
  return elementTexts(records);
}
