/** Returns a power of two near the wanted count. It stays as before while that is about right, because with another count all parts change. */
export function steadyCount(wanted: number, before: number | undefined): number {
  if (before !== undefined && before >= wanted / 4 && before <= wanted * 4) return before;
  return 2 ** Math.floor(Math.log2(Math.max(1, wanted)));
}
