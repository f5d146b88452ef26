/** Returns the index of the comma or bracket that ends the value. */
export function endOfValue(text: string, start: number): number {
  let depth = 0;
  let position = start;
  while (position < text.length) {
    const character = text[position];
    if (character === '"') {
      position = endOfString(text, position);
      continue;
    }
    if (depth === 0 && (character === ',' || character === '}' || character === ']')) return position;
    if (character === '{' || character === '[') depth += 1;
    if (character === '}' || character === ']') depth -= 1;
    position += 1;
  }
  return position;
}

/** Returns the index after the closing quote of the string that starts at `start`. */
export function endOfString(text: string, start: number): number {
  let position = start + 1;
  while (position < text.length && text[position] !== '"') position += text[position] === '\\' ? 2 : 1;
  return position + 1;
}

/** Returns the index of the next character that is not white space. */
export function skipSpace(text: string, start: number): number {
  let position = start;
  while (/\s/.test(text.charAt(position))) position += 1;
  return position;
}
