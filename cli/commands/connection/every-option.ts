import { InvalidArgumentError, Option } from 'commander';
import { longestInterval, parseDuration } from '../../../config/duration.ts';

/** What the option was given: milliseconds, or `off`, since an option cannot be null. */
export type Every = number | 'off';

/** An option that takes a time between two runs, or `off`. */
export function everyOption(flags: string, description: string): Option {
  return new Option(flags, `${description}, or "off"`).argParser(parseEvery);
}

/** As it is stored. */
export function millisecondsOf(every: Every): number | null {
  return every === 'off' ? null : every;
}

function parseEvery(text: string): Every {
  if (text === 'off') return text;
  const milliseconds = parseDuration(text);
  // Temporal knows no shorter one.
  if (milliseconds === undefined || milliseconds < 1_000 || milliseconds > longestInterval) {
    throw new InvalidArgumentError(
      'It takes a number and s, m, h or d, from 1s to 3650d, like 15m, or "off".',
    );
  }
  return milliseconds;
}
