/** Cuts a UTC time, as Postgres writes it, to the minute. Empty if there is none. */
export function utcMinute(time: string | null): string {
  return time?.slice(0, 16) ?? '';
}
