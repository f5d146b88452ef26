/**
 * Takes the text of a valid JSON object apart without reading its values, so that numbers keep every digit they were
 * written with. Of members with the same name the last one counts.
 */
export function splitMembers(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let position = text.indexOf('{') + 1;
  for (;;) {
    position = skipSpace(text, position);
    if (position >= text.length || text[position] === '}') return members;
    const nameEnd = endOfString(text, position);
    const name = JSON.parse(text.slice(position, nameEnd)) as string;
    const valueStart = skipSpace(text, text.indexOf(':', nameEnd) + 1);
    const valueEnd = endOfValue(text, valueStart);
    members.set(name, text.slice(valueStart, valueEnd).trimEnd());
    position = valueEnd + (text[valueEnd] === ',' ? 1 : 0);
  }
}

/** The opposite of `splitMembers`. */
export function joinMembers(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** The index of the comma or bracket that ends the value. */
function endOfValue(text: string, start: number): number {
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

/** The index after the closing quote of the string that starts at `start`. */
function endOfString(text: string, start: number): number {
  let position = start + 1;
  while (position < text.length && text[position] !== '"') position += text[position] === '\\' ? 2 : 1;
  return position + 1;
}

function skipSpace(text: string, start: number): number {
  let position = start;
  while (/\s/.test(text.charAt(position))) position += 1;
  return position;
}
