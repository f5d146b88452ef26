/** In SQL, of a pass: for how long it has been read at most, by the clock of the database. */
const readFor = `greatest(clock_timestamp() - started_at, interval '0')`;

/**
 * In SQL, of a pass whose page lands: the service's time when its reading began, or earlier. Where the first answer told no time, a later
 * one did so that much later at most.
 *
 * `servedAt`: the parameter, the service's time of the answer; null when it does not tell. It has whole seconds; a version within that
 * second (`highest`, the parameter) proves a later time, for a version of the future would lie further off.
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
 * In SQL, of a pass of a service that tells no time: the same. Its newest version shows what the time has become at least, and ours counts
 * where that is of the future. Null before the first record.
 */
export const beganUntold = `case when highest_seen is not null then least(highest_seen - ${readFor}, started_at) end`;
