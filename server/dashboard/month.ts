/** The first days of the last `count` months, that of `asOf` the last, as YYYY-MM-DD. */
export function lastMonths(asOf: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => isoDay(monthFrom(asOf, index - count + 1, 1)));
}

/** The last `count` months that are over: that of `asOf` is not, on its last day either. */
export function lastOverMonths(asOf: string, count: number): string[] {
  return lastMonths(asOf, count + 1).slice(0, -1);
}

/** The last day of the month that begins with `month`. */
export function monthEnd(month: string): string {
  return isoDay(monthFrom(month, 1, 0));
}

/** `asOf` and the last days of the `count` months before it. */
export function lastMonthEnds(asOf: string, count: number): string[] {
  const ends = Array.from({ length: count }, (_, index) => isoDay(monthFrom(asOf, index - count + 1, 0)));
  return [...ends, asOf];
}

/** Jul 2026 */
export function monthName(day: string): string {
  return `${names[Number(day.slice(5, 7)) - 1] ?? ''} ${day.slice(0, 4)}`;
}

/** 23 Nov */
export function dayName(day: string): string {
  return `${Number(day.slice(8, 10))} ${names[Number(day.slice(5, 7)) - 1] ?? ''}`;
}

/** 23 Nov 2026 */
export function fullDayName(day: string): string {
  return `${dayName(day)} ${day.slice(0, 4)}`;
}

/** The day of UTC up to which subscriptions were read in this month, where it is before that of the build. */
export function earlierDay(until: string | null, utcDay: string): string | undefined {
  return until !== null && until < utcDay ? until : undefined;
}

/** The day that it was in UTC, that of `asOf` at the latest: in zones ahead of UTC it may be the one before. */
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
