import { endOfString, endOfValue, skipSpace } from './scan.ts';

/**
 * Splits the text of a valid JSON object without parsing its values, so that numbers keep every digit as
 * written. If members share a name, the last one counts.
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

/** Appends a member to the text of a valid JSON object, and leaves the others as written. */
export function withMember(text: string, name: string, value: string): string {
  const others = text.slice(0, text.lastIndexOf('}'));
  const comma = others.trimEnd().endsWith('{') ? '' : ',';
  return `${others}${comma}${JSON.stringify(name)}:${value}}`;
}

/** The inverse of `splitMembers`. */
export function joinMembers(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}
