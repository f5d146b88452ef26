/**
 * Makes a text safe for a terminal or a page: characters that move a cursor, change a title or turn the writing direction become escapes
 * (`\u001b`). Line ends and tabs stay. JSON keeps its meaning.
 */
export function visible(text: string): string {
  return text.replace(commands, (one) => (one === '\n' || one === '\t' ? one : writtenOut(one)));
}

/** Makes a text safe for a table cell, where a line end would begin a new row. */
export function visibleInCell(text: string): string {
  return text.replace(commands, writtenOut);
}

function writtenOut(character: string): string {
  const short = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character];
  return short ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Control characters, and those that mark, embed or override a writing direction. */
const commands = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
