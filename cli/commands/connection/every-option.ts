import { InvalidArgumentError, Option } from 'commander';
import { longestInterval, parseDuration } from '../../../config/duration.ts';

/** The value of the option: milliseconds, or `off`, since an option cannot be null. */
export type Every = number | 'off';

/** Creates an option that takes a time between two runs, or `off`. */
export function everyOption(flags: string, description: string): Option {
  return new Option(flags, `${description}, from 1s to 3650d, or "off"`).argParser(parseEvery);
}

/** Converts the option to its stored form. */
export function asMilliseconds(every: Every): number | null {
  return every === 'off' ? null : every;
}

function parseEvery(text: string): Every {
  if (text === 'off') return text;
  const milliseconds = parseDuration(text);
  // Temporal has no shorter interval.
  if (milliseconds === undefined || milliseconds < 1_000 || milliseconds > longestInterval) {
    throw new InvalidArgumentError(
      'It takes a number and s, m, h or d, from 1s to 3650d, like 15m, or "off".',
    );
  }
  return milliseconds;
}
