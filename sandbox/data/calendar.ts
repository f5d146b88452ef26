export const dayMs = 86_400_000;
export const hourMs = 3_600_000;

/** Returns the first moments of the last `count` months, oldest first; the last one is the month of `asOf`. */
export function monthStarts(asOf: number, count: number): readonly [number, ...number[]] {
  const last = new Date(asOf);
  const start = (back: number) => Date.UTC(last.getUTCFullYear(), last.getUTCMonth() - back, 1);
  return [start(count - 1), ...Array.from({ length: count - 1 }, (_, index) => start(count - 2 - index))];
}

/** Returns the first date with this day of the month that is not before `time`. */
export function nextDayOfMonth(time: number, day: number): number {
  const date = new Date(time);
  const inMonth = (offset: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, day);
  return inMonth(0) >= time ? inMonth(0) : inMonth(1);
}

/** Formats a time in ISO 8601 as the API writes it; a date is midnight UTC of its day. */
export function isoTime(time: number): string {
  const known = written.get(time);
  if (known !== undefined) return known;
  const text = new Date(time).toISOString();
  if (written.size >= 50_000) written.clear();
  written.set(time, text);
  return text;
}

/** A cache: the same few thousand times recur, and formatting them took a quarter of the time of a page. */
const written = new Map<number, string>();

/** Returns the JSON text of a time that may be missing. */
export function timeOrNull(time: number | null): string {
  return time === null ? 'null' : `"${isoTime(time)}"`;
}
