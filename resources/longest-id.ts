/**
 * Bytes of the longest id that can be a key. A Postgres index holds 2,704 bytes of a row, and the other columns of our keys take up to
 * 200.
 */
export const longestId = 2_000;

export function isTooLong(id: string): boolean {
  // A UTF-16 code unit takes at most three bytes.
  return id.length * 3 > longestId && Buffer.byteLength(id) > longestId;
}
