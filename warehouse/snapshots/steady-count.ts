/** A power of two near to how many are wanted: as before as long as that is about right, for with another count no part is the same. */
export function steadyCount(wanted: number, before: number | undefined): number {
  if (before !== undefined && before >= wanted / 4 && before <= wanted * 4) return before;
  return 2 ** Math.floor(Math.log2(Math.max(1, wanted)));
}
