import { endOfValue, skipSpace } from './scan.ts';

/** Splits the text of a valid JSON array without parsing its elements, so that every digit stays as written. */
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

/** The inverse of `splitElements`. */
export function joinElements(elements: readonly string[]): string {
  return `[${elements.join(',')}]`;
}
