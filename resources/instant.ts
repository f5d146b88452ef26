/** Times that Postgres reads as the same instant: offsets of less than 16 hours, fractions only of seconds and after a point. */
const isoTime =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:(?<=:\d{2}:\d{2})\.(\d{1,9}))?(Z|[+-](?:0\d|1[0-5])(?::?[0-5]\d)?)?)?$/i;

/**
 * Returns the microseconds since 1970 of an ISO 8601 text; undefined if it is none, or names an instant that does not exist. Without a zone it is
 * UTC. Microseconds, because two versions of a record can lie in the same millisecond, and Postgres has no finer
 * resolution.
 */
export function microsecondsOf(text: string): number | undefined {
  const [, day, clock = '00:00', fraction = '', zone = 'Z'] = isoTime.exec(text) ?? [];
  if (day === undefined || !isCalendarDay(day)) return undefined;
  // 24:00 is the exact end of a day.
  if (clock.startsWith('24') && /[1-9]/.test(fraction)) return undefined;
  const milliseconds = Date.parse(`${day}T${clock}${normalZone(zone)}`);
  if (Number.isNaN(milliseconds)) return undefined;
  return milliseconds * 1000 + Math.round(Number(`0.${fraction || '0'}`) * 1e6);
}

/** Whether `microsecondsOf` reads the text. */
export function isTime(text: string): boolean {
  return microsecondsOf(text) !== undefined;
}

/** Whether a text begins with a calendar day (`2024-02-29T…`), as every time does: the day is taken as written, whatever the zone. */
export function beginsWithDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}($|[T ])/i.test(text) && isCalendarDay(text.slice(0, 10));
}

/** By arithmetic, because a Date treats 30 February as 1 March. The year 0 exists in ISO 8601, not in Postgres. */
function isCalendarDay(day: string): boolean {
  const year = Number(day.slice(0, 4));
  const month = Number(day.slice(5, 7));
  const date = Number(day.slice(8, 10));
  if (year < 1 || month < 1 || month > 12 || date < 1) return false;
  const leapDay = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 1 : 0;
  return date <= (daysOfMonth[month - 1] ?? 0) + leapDay;
}

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function normalZone(zone: string): string {
  if (zone === 'Z' || zone === 'z') return 'Z';
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  return `${zone.slice(0, 1)}${digits.slice(0, 2)}:${digits.slice(2)}`;
}
