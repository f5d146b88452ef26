/**
 * How to find an ID in JSON text as a whole, not as a part of another word or ID. A string in JSON may itself hold JSON, at any depth. Its writer
 * chose the spelling: a slash as `\/`, all but ASCII letters and digits as `\u00e9` or `\u00E9`, with more backslashes the deeper it is.
 */
export interface IdInJson {
  /** A part that occurs in every spelling, for a fast search. May be empty. */
  readonly part: string;
  /** A Postgres regular expression. */
  readonly pattern: string;
}

export function idInJson(id: string): IdInJson {
  const characters = Array.from(id);
  const spelled = characters.map((one) => (plain.test(one) ? one : `(?:${spellings(one).join('|')})`));
  // A backslash before the first character, or after the last, belongs to its spelling.
  const before = plain.test(characters[0] ?? '') ? '[^[:alnum:]]' : String.raw`[^[:alnum:]\\]`;
  const after = characters.at(-1) === '\\' ? String.raw`[^[:alnum:]\\]|\\[bfnrt]` : '[^[:alnum:]]';
  const runs = id.match(/[A-Za-z0-9]+/g) ?? [];
  return {
    part: runs.reduce((longest, run) => (run.length > longest.length ? run : longest), ''),
    // The letter of an escape, such as that of a line end, is not part of a word.
    pattern: String.raw`(?:^|${before}|\\[bfnrt]|\\u[0-9a-fA-F]{4})${spelled.join('')}(?:$|${after})`,
  };
}

const plain = /^[A-Za-z0-9]$/;

function spellings(character: string): string[] {
  const byNumber = Array.from({ length: character.length }, (_, place) => numbered(character, place));
  const short = shortEscapes[character];
  const itself = short === undefined ? [itselfIn(character)] : [String.raw`\\+${short}`];
  return [...itself, byNumber.join('')];
}

/** JSON has to escape a quote, and may escape a slash. */
function itselfIn(character: string): string {
  if (character === '\\') return String.raw`\\+`;
  if (character === '"' || character === '/') return String.raw`\\*${character}`;
  return character.replace(/[\^$.|?*+(){}[\]]/, String.raw`\$&`);
}

function numbered(character: string, place: number): string {
  const digits = character.charCodeAt(place).toString(16).padStart(4, '0');
  return String.raw`\\+u${digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`;
}

const shortEscapes: Readonly<Record<string, string>> = {
  '\b': 'b',
  '\f': 'f',
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
};
