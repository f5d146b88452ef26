import { skipSeparator, walkMembers } from './member-text.ts';
import { skipSpace, valueEnd } from './value-end.ts';

/** A list response in its parts. It is JSON if the outline and all records are. */
export interface CutPage {
  /** The response with `0` in place of each record. */
  readonly outline: string;
  /** The unchanged text of each record, in the order of JSON.parse. */
  readonly records: readonly string[];
}

/**
 * Cuts the records out of a list response, an object whose member `plural` is an array. Reads each character once, because the records are nearly
 * the whole page. Throws SyntaxError or TypeError if there is no such array. Text that is not JSON may be cut anywhere.
 */
export function cutPage(pageText: string, plural: string): CutPage {
  let found: { start: number; array: CutArray } | undefined;
  walkMembers(pageText, (name, start) => {
    if (name !== plural || pageText[start] !== '[') return valueEnd(pageText, start);
    const array = cutArray(pageText, start);
    found = { start, array };
    return array.end;
  });
  if (found === undefined) throw new TypeError(`The page has no array "${plural}".`);
  const { start, array } = found;
  const outline = [pageText.slice(0, start), ...array.between, pageText.slice(array.end)].join('');
  return { outline, records: array.elements };
}

interface CutArray {
  readonly elements: readonly string[];
  /** The text around them, including the `0` for each. */
  readonly between: readonly string[];
  /** The index after the array. */
  readonly end: number;
}

function cutArray(text: string, start: number): CutArray {
  const elements: string[] = [];
  const between: string[] = [];
  let from = start;
  let at = skipSpace(text, start + 1);
  while (at < text.length && text[at] !== ']') {
    between.push(text.slice(from, at), '0');
    from = valueEnd(text, at);
    elements.push(text.slice(at, from));
    at = skipSeparator(text, from);
  }
  between.push(text.slice(from, at + 1));
  return { elements, between, end: at + 1 };
}
