/**
 * Returns the end (exclusive) of the JSON value that begins at `start`. It only finds the borders of values, in text that JSON.parse has accepted,
 * and never interprets them, so every digit is preserved.
 */
export function valueEnd(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return stringEnd(text, start);
  if (first === '{' || first === '[') return containerEnd(text, start);
  return wordEnd(text, start);
}

/** Returns the next index that is not JSON white space. */
export function skipSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

/** Counts brackets instead of recursing: the depth of a record is the sender's choice. */
function containerEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = stringEnd(text, at);
      continue;
    }
    if (code === openBrace || code === openBracket) depth += 1;
    if (code === closeBrace || code === closeBracket) depth -= 1;
    at += 1;
    if (depth === 0) return at;
  }
  throw new SyntaxError('The JSON text ends inside an object or array.');
}

/** Strings are most of a page: indexOf skips them several times faster than a loop over the characters. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  if (end === -1) throw new SyntaxError('The JSON text ends inside a string.');
  return end + 1;
}

/** Whether an odd number of backslashes precedes it: each pair is an escaped backslash. */
export function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1;
  return backslashes % 2 === 1;
}

function wordEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && !endsWord(text.charCodeAt(at))) at += 1;
  if (at === start) throw new SyntaxError('The JSON text has no value where one belongs.');
  return at;
}

function endsWord(code: number): boolean {
  return code === comma || code === closeBrace || code === closeBracket || isSpace(code);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
