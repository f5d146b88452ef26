/**
 * A text without the tokens in it: `access_token=…` of an address, `"access_token":"…"` of JSON within a text, `access_token%3D…` of an
 * address within one. Words that merely follow the name are no token, and the name stays.
 */
export function withoutTokensWithin(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (const { index, 0: name } of text.matchAll(tokenName)) {
    // Within a token that is cut out already.
    if (index < from) continue;
    const begin = endOfRun(quotes, text, index + name.length);
    const start = endOfRun(separators, text, begin);
    if (!isSeparator(text, begin)) continue;
    kept.push(text.slice(from, start));
    from = endOfRun(token, text, start);
  }
  kept.push(text.slice(from));
  return kept.join('');
}

const tokenName = /access_?token/gi;
const quotes = /[\s"'\\]+|%22/y;
const separator = /[=:]|%3[ad]/iy;
const separators = /[\s"'\\=:]+|%3[ad]|%22/iy;
const token = /[^&\s"'\\#,;}]+/y;

function isSeparator(text: string, at: number): boolean {
  separator.lastIndex = at;
  return separator.test(text);
}

/**
 * Where parts, one after the other, end. A single expression that repeats them keeps a place for each to go back to: for a text with millions
 * of them there is no room.
 */
function endOfRun(part: RegExp, text: string, start: number): number {
  let end = start;
  part.lastIndex = start;
  while (part.test(text)) end = part.lastIndex;
  return end;
}
