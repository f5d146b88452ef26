const millisecondsOf = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Returns the milliseconds of `<n>s`, `m`, `h` or `d`; undefined if the text is none of them. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text.trim()) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  return Number(count) * millisecondsOf[unit as keyof typeof millisecondsOf];
}

/** The longest interval of a schedule: twice as long, stretched, it can still be subtracted from now in Postgres. */
export const longestInterval: number = 3_650 * millisecondsOf.d;

/** Returns the shortest form of whole seconds that parseDuration reads. */
export function formatDuration(milliseconds: number): string {
  const units = (['d', 'h', 'm', 's'] as const).map((unit) => [unit, millisecondsOf[unit]] as const);
  const [unit, length] = units.find(([, size]) => milliseconds % size === 0) ?? ['s', millisecondsOf.s];
  return `${milliseconds / length}${unit}`;
}
