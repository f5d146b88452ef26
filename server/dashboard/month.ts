/** Returns the first days of the last `count` months, ending with the month of `asOf`, as YYYY-MM-DD. */
export function lastMonths(asOf: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => isoDay(monthFrom(asOf, index - count + 1, 1)));
}

/** Returns the last `count` months that are over. The month of `asOf` is not over, even on its last day. */
export function lastOverMonths(asOf: string, count: number): string[] {
  return lastMonths(asOf, count + 1).slice(0, -1);
}

/** Returns the last day of the month that begins with `month`. */
export function monthEnd(month: string): string {
  return isoDay(monthFrom(month, 1, 0));
}

/** Returns the last days of the `count` months before `asOf`, and `asOf` itself. */
export function lastMonthEnds(asOf: string, count: number): string[] {
  const ends = Array.from({ length: count }, (_, index) => isoDay(monthFrom(asOf, index - count + 1, 0)));
  return [...ends, asOf];
}

/** Returns a month such as Jul 2026. */
export function monthName(day: string): string {
  return `${names[Number(day.slice(5, 7)) - 1] ?? ''} ${day.slice(0, 4)}`;
}

/** Returns a day such as 23 Nov. */
export function dayName(day: string): string {
  return `${Number(day.slice(8, 10))} ${names[Number(day.slice(5, 7)) - 1] ?? ''}`;
}

/** Returns a day such as 23 Nov 2026. */
export function fullDayName(day: string): string {
  return `${dayName(day)} ${day.slice(0, 4)}`;
}

/** Returns the UTC day up to which subscriptions were read in this month, if it is before the day of the build. */
export function earlierDay(until: string | null, utcDay: string): string | undefined {
  return until !== null && until < utcDay ? until : undefined;
}

/** Returns the UTC day of a moment, but never later than `asOf`. In zones ahead of UTC it may be the day before. */
export function dayInUtc(moment: Date, asOf: string): string {
  const day = isoDay(moment.getTime());
  return day < asOf ? day : asOf;
}

export function daysAfter(day: string, days: number): string {
  return isoDay(Date.parse(day) + days * 86_400_000);
}

function monthFrom(day: string, months: number, dayOfMonth: number): number {
  return Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1 + months, dayOfMonth);
}

function isoDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

const names = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
