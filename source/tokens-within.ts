/**
 * Removes the tokens from a text: `access_token=…` in a URL, `"access_token":"…"` in JSON within a text, `access_token%3D…` in a URL within a URL.
 * Words that merely follow the name are not tokens, and the name stays.
 */
export function withoutTokensWithin(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (const { index, 0: name } of text.matchAll(tokenName)) {
    // Within a token that is already removed.
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
 * Returns the end of consecutive matches of `part`. A single expression that repeats them would keep a backtracking position for each: with
 * millions of them it would run out of memory.
 */
function endOfRun(part: RegExp, text: string, start: number): number {
  let end = start;
  part.lastIndex = start;
  while (part.test(text)) end = part.lastIndex;
  return end;
}
