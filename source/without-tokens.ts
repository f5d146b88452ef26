import { withoutTokensWithin } from './tokens-within.ts';
import { skipSpace, valueEnd } from './value-end.ts';

/**
 * Removes access tokens from JSON text: members `access_token` at any depth, and tokens within other texts, such as the URL of a request or a
 * body kept as text. Everything else stays unchanged, character by character. `text` must be JSON.
 */
export function withoutTokens(text: string): string {
  if (!mayNameToken.test(text)) return text;
  const kept: string[] = [];
  let from = 0;
  for (let at = text.indexOf('"'); at !== -1;) {
    const end = valueEnd(text, at);
    const string = JSON.parse(text.slice(at, end)) as string;
    const colon = skipSpace(text, end);
    if (text[colon] === ':' && tokenName.test(string)) {
      const memberEnd = valueEnd(text, skipSpace(text, colon + 1));
      kept.push(text.slice(from, at));
      from = skipSpace(text, memberEnd);
      // The member is removed with one comma: the one after it, or, if it is the last of its object, the one before.
      if (text[from] === ',') from += 1;
      else dropTrailingComma(kept);
      at = text.indexOf('"', from);
      continue;
    }
    const clean = withoutTokensWithin(string);
    if (clean !== string) {
      kept.push(text.slice(from, at), JSON.stringify(clean));
      from = end;
    }
    at = text.indexOf('"', end);
  }
  kept.push(text.slice(from));
  return kept.join('');
}

/** Escapes can spell the name in many ways; a text without the name and without escaped letters needs no further check. */
const mayNameToken = /access_?token|\\u00[4-7]/i;

const tokenName = /^access_?token$/i;

function dropTrailingComma(kept: string[]): void {
  const last = kept.length - 1;
  for (let at = last; at >= 0; at -= 1) {
    const part = kept[at] ?? '';
    const trimmed = part.trimEnd();
    if (trimmed === '') continue;
    if (trimmed.endsWith(',')) kept[at] = trimmed.slice(0, -1);
    return;
  }
}
