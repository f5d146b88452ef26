/** A time as Postgres writes it in UTC, to the minute; empty where there is none. */
export function utcMinute(time: string | null): string {
  return time?.slice(0, 16) ?? '';
}
