/**
 * Bytes of the longest id that is a key of ours. An index of Postgres holds 2,704 bytes of a row, and what is beside the id in our
 * keys takes up to 200.
 */
export const longestId = 2_000;

export function isTooLong(id: string): boolean {
  // A character of UTF-16 is three bytes at most.
  return id.length * 3 > longestId && Buffer.byteLength(id) > longestId;
}
