/**
 * Counts the values of JSON text as its bytes arrive: everything after a comma or an opening bracket outside of strings. Never counts fewer
 * than JSON.parse would create; the count of text that is not JSON is arbitrary.
 */
export function createValueCounter(): (bytes: Uint8Array) => number {
  let count = 1;
  let wasInString = false;
  let wasEscaped = false;
  return function countOn(bytes) {
    // By index, and with local variables: iterating, and writing the closure's variables, takes four times as long.
    const { length } = bytes;
    let more = 0;
    let isInString = wasInString;
    let isEscaped = wasEscaped;
    for (let at = 0; at < length; at += 1) {
      const byte = bytes[at];
      if (isEscaped) isEscaped = false;
      else if (isInString) {
        if (byte === quote) isInString = false;
        else if (byte === backslash) isEscaped = true;
      } else if (byte === quote) isInString = true;
      else if (byte === comma || byte === openBrace || byte === openBracket) more += 1;
    }
    count += more;
    wasInString = isInString;
    wasEscaped = isEscaped;
    return count;
  };
}

/**
 * Returns an upper bound on the number of values in JSON text: counts every comma and opening bracket, even within strings. Takes a fifth of the
 * time of `createValueCounter`. For a whole text it counts all values but the outermost.
 */
export function mostValuesIn(bytes: Buffer): number {
  const text = bytes.toString('latin1');
  return [',', '{', '['].reduce((sum, one) => sum + occurrences(text, one), 0);
}

function occurrences(text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count += 1;
  return count;
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openBracket = 0x5b;
const openBrace = 0x7b;
