/**
 * Returns the pause that a `Retry-After` asks for: a number of seconds, or an HTTP date, which is compared with the `Date` of the same response
 * because the local clock may be wrong by hours. Null if it is absent or nonsense. At most 15 minutes.
 */
export function retryAfterMilliseconds(
  headers: { readonly retryAfter: string | null; readonly date: string | null },
  now: Date,
): number | null {
  const asked = headers.retryAfter?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(asked)) return bounded(Number(asked) * 1000);
  const until = httpDate(asked);
  if (until === null) return null;
  return bounded(until - (httpDate(headers.date ?? '') ?? now.getTime()));
}

/** Returns the time of a `Date` header; null if it is absent or nonsense, such as a year without four digits. */
export function parseServedAt(date: string | null): Date | null {
  const time = httpDate(date ?? '');
  return time === null ? null : new Date(time);
}

/** Date.parse alone accepts nonsense such as `soon 1` as a date; an HTTP date begins with a weekday and ends in GMT. */
function httpDate(text: string): number | null {
  if (!/^[A-Z][a-z]{2,8}, .* GMT$/.test(text)) return null;
  const time = Date.parse(text);
  return time >= firstTime && time <= lastTime ? time : null;
}

const firstTime = Date.parse('1000-01-01T00:00:00Z');
const lastTime = Date.parse('9999-12-31T23:59:59Z');

/** At least a second, so that "0" cannot become a loop. */
function bounded(milliseconds: number): number {
  return Math.min(Math.max(milliseconds, 1000), 15 * 60_000);
}
