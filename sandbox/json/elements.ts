import { endOfValue, skipSpace } from './scan.ts';

/** Takes the text of a valid JSON array apart without reading its elements: every digit stays as it was written. */
export function splitElements(text: string): string[] {
  const elements: string[] = [];
  let position = text.indexOf('[') + 1;
  for (;;) {
    position = skipSpace(text, position);
    if (position >= text.length || text[position] === ']') return elements;
    const end = endOfValue(text, position);
    elements.push(text.slice(position, end).trimEnd());
    position = end + (text[end] === ',' ? 1 : 0);
  }
}

/** The opposite of `splitElements`. */
export function joinElements(elements: readonly string[]): string {
  return `[${elements.join(',')}]`;
}
