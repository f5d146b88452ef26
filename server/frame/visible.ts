/**
 * A text as a terminal or a page may show it: what would move a cursor, change a title or turn the direction of writing is written out
 * (`\u001b`). Line ends and tabs stay. JSON means the same afterwards.
 */
export function visible(text: string): string {
  return text.replace(commands, (one) => (one === '\n' || one === '\t' ? one : writtenOut(one)));
}

/** For a cell of a table: a line end would begin a row that is none. */
export function visibleInCell(text: string): string {
  return text.replace(commands, writtenOut);
}

function writtenOut(character: string): string {
  const short = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character];
  return short ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Control characters, and those that mark, embed or override a direction. */
const commands = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
