/** SQL for a pass: for how long it has been read at most, by the clock of the database. */
const readFor = `greatest(clock_timestamp() - started_at, interval '0')`;

/**
 * Returns SQL for a pass whose page lands: the service's time when its reading began, or earlier. If the first response told no time, the time read
 * so far is subtracted from that of a later one.
 *
 * `servedAt` is the parameter with the service's time of the response; null if it tells none. It has whole seconds; a version within that second
 * (`highest`, a parameter) proves a later time, because a version of the future would lie further off.
 */
export function beganAt(servedAt: string, highest: string): string {
  return `case
            when ${highest}::timestamptz >= ${servedAt}::timestamptz
              and ${highest}::timestamptz < ${servedAt}::timestamptz + interval '1 second'
            then ${highest}::timestamptz
            else ${servedAt}::timestamptz
          end - case when cursor is null then interval '0' else ${readFor} end`;
}

/**
 * SQL for the same, for a service that tells no time. Its newest version shows a time that has passed; if that version is of the future, our time
 * counts. Null before the first record.
 */
export const beganUntold = `case when highest_seen is not null then least(highest_seen - ${readFor}, started_at) end`;
