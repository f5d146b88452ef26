import { skipSpace, valueEnd } from './value-end.ts';

/**
 * Returns the unchanged text of a member of the object `objectText`: `{"bill": {…}}`, `bill`. `objectText` must be JSON. If a name is repeated,
 * the last one counts, as in JSON.parse. Null if there is no such member.
 */
export function memberText(objectText: string, name: string): string | null {
  let found: string | null = null;
  walkMembers(objectText, (memberName, start) => {
    const end = valueEnd(objectText, start);
    if (memberName === name) found = objectText.slice(start, end);
    return end;
  });
  return found;
}

/** Visits the members of an object; `visit` receives the start of a value and returns its end. */
export function walkMembers(objectText: string, visit: (name: string, start: number) => number): void {
  let at = skipSpace(objectText, skipSpace(objectText, 0) + 1);
  while (at < objectText.length && objectText[at] !== '}') {
    const nameEnd = valueEnd(objectText, at);
    const name = JSON.parse(objectText.slice(at, nameEnd)) as string;
    const end = visit(name, skipSpace(objectText, skipSpace(objectText, nameEnd) + 1));
    at = skipSeparator(objectText, end);
  }
}

/** Skips from the end of a value to the next one, or to the closing bracket. */
export function skipSeparator(text: string, end: number): number {
  const at = skipSpace(text, end);
  return text[at] === ',' ? skipSpace(text, at + 1) : at;
}
